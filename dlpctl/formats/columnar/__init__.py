"""Tables that are stored by column: the bytes of Arrow, Avro, ORC and Parquet files.

`dlpctl.formats.columns` and `dlpctl.formats.avro` are the formats; the modules of this room divide
large files into sections and read their structures, which a library reads only as a whole.
"""
