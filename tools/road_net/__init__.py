"""How `cfgen/perception/weights/road_net.onnx` was trained: frames, labels, training, export, evaluation."""
