// Runs an ONNX file, named by the argument, with com.microsoft.onnxruntime:onnxruntime from Maven Central.
// Not run in the tests.
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.Map;

public class Predict {
    // From a buffer and a shape, since an empty tensor cannot be made of an array.
    static OnnxTensor vector(OrtEnvironment environment, int... values) throws OrtException {
        return OnnxTensor.createTensor(environment, IntBuffer.wrap(values), new long[] {values.length});
    }

    public static void main(String[] arguments) throws OrtException {
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        try (OrtSession session = environment.createSession(arguments[0], new OrtSession.SessionOptions());
                OnnxTensor pieces = vector(environment, 1037, 6919, 2143);
                OnnxTensor counts = vector(environment, 1, 1, 1);
                OnnxTensor lengths = vector(environment, 3);
                OnnxTensor breaks = vector(environment, 0);
                OnnxTensor transitions = vector(environment);
                OrtSession.Result outputs = session.run(Map.of("piece_ids", pieces, "pieces_per_word", counts,
                        "lengths", lengths, "breaks", breaks, "transitions", transitions))) {
            int[] parse = (int[]) outputs.get("parse").get().getValue();
            float[][] nodes = (float[][]) outputs.get("node_scores").get().getValue();
            System.out.println(session.getMetadata().getCustomMetadata().get("labels"));
            for (int node = 0; node < parse.length; node++) {
                System.out.println(parse[node] + " " + Arrays.toString(nodes[node]));
            }
        }
    }
}
