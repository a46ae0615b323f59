package sandbox

// Rights are what a process may still do after Confine, besides computing with its memory and open
// files.
type Rights struct {
	// Programs allows to open files by name and to start programs, which are confined, too.
	Programs bool
	Network  bool
}
