package formats

func (r *Reader) readQIF(record *Record)  {}
func (r *Reader) readYNAB(record *Record) {}
