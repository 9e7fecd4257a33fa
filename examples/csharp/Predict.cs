// Runs an ONNX file, named by the argument, with Microsoft.ML.OnnxRuntime from NuGet.
// Not run in the tests.
using Microsoft.ML.OnnxRuntime;

using var session = new InferenceSession(args[0]);
using var options = new RunOptions();
using var pieces = Vector(1037, 6919, 2143);
using var counts = Vector(1, 1, 1);
using var lengths = Vector(3);
using var breaks = Vector(0);
using var transitions = Vector();
var inputs = new Dictionary<string, OrtValue>
{
    ["piece_ids"] = pieces,
    ["pieces_per_word"] = counts,
    ["lengths"] = lengths,
    ["breaks"] = breaks,
    ["transitions"] = transitions,
};
using var outputs = session.Run(options, inputs, new[] { "node_scores", "parse" });
float[] nodes = outputs[0].GetTensorDataAsSpan<float>().ToArray();
int[] parse = outputs[1].GetTensorDataAsSpan<int>().ToArray();
int classes = nodes.Length / parse.Length;
Console.WriteLine(session.ModelMetadata.CustomMetadataMap["labels"]);
for (int node = 0; node < parse.Length; node++)
{
    Console.WriteLine($"{parse[node]} {string.Join(" ", nodes.Skip(node * classes).Take(classes))}");
}

static OrtValue Vector(params int[] values) =>
    OrtValue.CreateTensorValueFromMemory(values, new long[] { values.Length });
