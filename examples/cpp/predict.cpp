// Runs a TorchScript file of thinstack: inputs from standard input, outputs to standard output.
#include <torch/script.h>

#include <cstdint>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using Tensors = c10::Dict<std::string, at::Tensor>;

// One input a line: its name, then its integers, of which there may be none.
Tensors read_inputs(std::istream& in) {
  Tensors inputs;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string name;
    if (!(fields >> name)) continue;
    const std::vector<int64_t> values{std::istream_iterator<int64_t>(fields), {}};
    if (!fields.eof()) throw std::invalid_argument("expected a name and integers, found: " + line);
    inputs.insert(name, torch::tensor(values, torch::kInt64));
  }
  return inputs;
}

// The name and the shape on one line, then the values, one line a row.
void print(const std::string& name, const at::Tensor& values) {
  std::cout << name;
  for (const int64_t size : values.sizes()) std::cout << ' ' << size;
  const at::Tensor rows = values.dim() == 1 ? values.unsqueeze(0) : values;
  for (int64_t row = 0; row < rows.size(0); ++row) {
    for (int64_t column = 0; column < rows.size(1); ++column) {
      std::cout << (column ? ' ' : '\n') << rows[row][column].item<double>();
    }
  }
  std::cout << '\n';
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: predict MODEL.pt < INPUTS\n";
    return 2;
  }
  try {
    const c10::InferenceMode inference;
    torch::jit::Module model = torch::jit::load(argv[1]);
    const c10::IValue outputs = model.forward({read_inputs(std::cin)});
    for (const auto& output : c10::impl::toTypedDict<std::string, at::Tensor>(outputs.toGenericDict())) {
      print(output.key(), output.value());
    }
  } catch (const c10::Error& error) {
    std::cerr << "predict: " << error.what_without_backtrace() << '\n';
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "predict: " << error.what() << '\n';
    return 2;
  }
}
