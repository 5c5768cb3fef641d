/* dial.h - the role that connects: the only one of the door's processes with a network. */
#ifndef DIAL_DIAL_H
#define DIAL_DIAL_H

int dial_main(int argc, char **argv);

#endif
