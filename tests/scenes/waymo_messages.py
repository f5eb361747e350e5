"""Messages of Waymo's End-to-End Driving data: the fields that matter here, with their numbers, of dataset.proto and
end_to_end_driving_data.proto (waymo-open-dataset, Apache-2.0)."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_MESSAGES = {
    "Transform": {"transform": (1, "repeated double")},
    "CameraCalibration": {
        "name": (1, "int32"),
        "intrinsic": (2, "repeated double"),
        "extrinsic": (3, "Transform"),
        "width": (4, "int32"),
        "height": (5, "int32"),
    },
    "Context": {"name": (1, "string"), "camera_calibrations": (2, "repeated CameraCalibration")},
    "CameraImage": {"name": (1, "int32"), "image": (2, "bytes"), "pose": (3, "Transform"), "shutter": (6, "double")},
    "Frame": {"context": (1, "Context"), "timestamp_micros": (2, "int64"), "images": (4, "repeated CameraImage")},
    "EgoTrajectoryStates": {
        name: (number, "packed float")
        for number, name in enumerate(("pos_x", "pos_y", "pos_z", "vel_x", "vel_y", "accel_x", "accel_y"), 1)
    },
    "E2EDFrame": {
        "frame": (1, "Frame"),
        "future_states": (5, "EgoTrajectoryStates"),
        "past_states": (6, "EgoTrajectoryStates"),
        "intent": (7, "int32"),
    },
}  # fmt: skip


def e2ed_frame() -> type:
    """The class of E2EDFrame, made by protobuf itself."""
    field_kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="e2e.proto", package="waymo.open_dataset", syntax="proto2")
    for message, fields in _MESSAGES.items():
        made = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            how, _, plain = kind.rpartition(" ")
            field = made.field.add(name=name, number=number)
            field.label = field_kinds.LABEL_REPEATED if how else field_kinds.LABEL_OPTIONAL
            if how == "packed":
                field.options.packed = True
            if plain in _MESSAGES:
                field.type, field.type_name = field_kinds.TYPE_MESSAGE, f".waymo.open_dataset.{plain}"
            else:
                field.type = getattr(field_kinds, f"TYPE_{plain.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("waymo.open_dataset.E2EDFrame"))
