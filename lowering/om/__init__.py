"""The `.om` container: byte layout, GE's protobuf messages, and the plan payload.

Nothing in here knows an IR: values in, bytes out, and back.

- `container`: header, partition table and partitions.
- `schema`: the messages of `ge.proto` and `domi`.
- `attributes`, `model`, `tasks`: values of a model and their messages.
- `plan_payload`: the partition that holds the plan as MLIR text.
- `file`: all of it together, `write_om` and `read_om`.
"""
