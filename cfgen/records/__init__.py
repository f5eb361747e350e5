"""What is stored: the value objects that every subpackage shares.

Frames and units: ego frame x forward, y left, z up, origin on the ground; camera frame x right, y down,
z forward; metres, seconds, radians, m/s. Images are HWC uint8 RGB. "At t0" means in the ego frame of the
moment at which the planner is asked.
"""

from cfgen.core.faults import Fault as Fault
from cfgen.core.faults import faults_in as faults_in
from cfgen.core.record import SCHEMA_VERSION as SCHEMA_VERSION
from cfgen.core.record import Record as Record
from cfgen.core.record import Stored as Stored
from cfgen.records.base import *
from cfgen.records.campaigns import *
from cfgen.records.cases import *
from cfgen.records.hazards import *
from cfgen.records.judge_validation import *
from cfgen.records.runs import *
from cfgen.records.scenes import *
from cfgen.records.traces import *
