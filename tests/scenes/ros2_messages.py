"""Messages of ROS 2 as recorders store their definitions (common_interfaces, geometry2; comments left out)."""

_DIVIDER = "=" * 80
HEADER = "builtin_interfaces/Time stamp\nstring frame_id\n"
_PARTS = {
    "std_msgs/Header": HEADER,
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec\n",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z\n",
    "geometry_msgs/Quaternion": "float64 x 0\nfloat64 y 0\nfloat64 z 0\nfloat64 w 1\n",
    "geometry_msgs/Pose": "Point position\nQuaternion orientation\n",
    "geometry_msgs/Twist": "Vector3 linear\nVector3 angular\n",
    "geometry_msgs/PoseWithCovariance": "Pose pose\nfloat64[36] covariance\n",
    "geometry_msgs/TwistWithCovariance": "Twist twist\nfloat64[36] covariance\n",
    "geometry_msgs/Transform": "Vector3 translation\nQuaternion rotation\n",
    "geometry_msgs/TransformStamped": "std_msgs/Header header\nstring child_frame_id\nTransform transform\n",
    "sensor_msgs/RegionOfInterest": "uint32 x_offset\nuint32 y_offset\nuint32 height\nuint32 width\nbool do_rectify\n",
    "sensor_msgs/NavSatStatus": "int8 STATUS_NO_FIX = -1\nint8 STATUS_FIX = 0\nint8 STATUS_SBAS_FIX = 1\n"
    "int8 STATUS_GBAS_FIX = 2\nuint16 SERVICE_GPS = 1\nint8 status\nuint16 service\n",
}
_STAMPED = ("std_msgs/Header", "builtin_interfaces/Time")
_MOVING = ("geometry_msgs/Point", "geometry_msgs/Vector3", "geometry_msgs/Quaternion")
_MESSAGES = {
    "sensor_msgs/msg/CompressedImage": ("std_msgs/Header header\nstring format\nuint8[] data\n", ()),
    "sensor_msgs/msg/Image": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\nuint8 is_bigendian\n"
        "uint32 step\nuint8[] data\n",
        (),
    ),
    "sensor_msgs/msg/CameraInfo": (
        "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\n"
        "float64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\nRegionOfInterest roi\n",
        ("sensor_msgs/RegionOfInterest",),
    ),
    "nav_msgs/msg/Odometry": (
        "std_msgs/Header header\nstring child_frame_id\ngeometry_msgs/PoseWithCovariance pose\n"
        "geometry_msgs/TwistWithCovariance twist\n",
        (
            "geometry_msgs/PoseWithCovariance",
            "geometry_msgs/TwistWithCovariance",
            "geometry_msgs/Pose",
            "geometry_msgs/Twist",
            *_MOVING,
        ),
    ),
    "sensor_msgs/msg/NavSatFix": (
        "std_msgs/Header header\nNavSatStatus status\nfloat64 latitude\nfloat64 longitude\nfloat64 altitude\n"
        "float64[9] position_covariance\nuint8 COVARIANCE_TYPE_UNKNOWN = 0\nuint8 position_covariance_type\n",
        ("sensor_msgs/NavSatStatus",),
    ),
    "tf2_msgs/msg/TFMessage": (
        "geometry_msgs/TransformStamped[] transforms\n",
        ("geometry_msgs/TransformStamped", "geometry_msgs/Transform", *_MOVING[1:]),
    ),
    "std_msgs/msg/String": ("string data\n", ()),
}


def definition(name: str) -> str:
    """What a recorder stores for a type: its definition and those of all types in it."""
    own, parts = _MESSAGES[name]
    parts = (*parts, *_STAMPED) if "Header" in own or "Stamped" in own else parts
    return own + "".join(f"{_DIVIDER}\nMSG: {part}\n{_PARTS[part]}" for part in parts)
