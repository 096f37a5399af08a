"""A fitted classifier in the formats of other runtimes; ONNX needs the extra `onnx`."""
