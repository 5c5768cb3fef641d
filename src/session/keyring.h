/* keyring.h - the desktop's keyring as a source of a secret: the Secret Service (GNOME Keyring,
 * KWallet, KeePassXC) over D-Bus. keyring.c knows the service, dbus.c the little of D-Bus that it
 * takes. Runs in a process of its own (source_run_inside): it has the value for a moment. */
#ifndef SESSION_KEYRING_H
#define SESSION_KEYRING_H

struct buf;
struct err;

/* keyring_read(bus, asked, value, err): on the bus at that address (dbus_address), the secret of the one item that ${asked} names: attributes
 * ("service=github user=me"), or a name, which stands for "application=ostiary name=NAME". Appends
 * it to ${value}. -1 and a sentence when there is no session bus or no keyring, when the item is
 * locked, when there is none or more than one. Nobody is prompted. */
int keyring_read(const char *bus, const char *asked, struct buf *value, struct err *);

#endif
