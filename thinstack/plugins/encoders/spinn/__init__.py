"""`spinn.v1`: an encoder that parses while it composes (Bowman et al. 2016), and its export."""

from thinstack.plugins.encoders.spinn.stack_encoder import StackEncoder as StackEncoder
