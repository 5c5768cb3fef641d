/* role_attack.h - test builds only: run attacker code *as* one of our roles, to show what taking
 * that role over would yield. In the shipped program this is nothing at all. */
#ifndef BOX_ROLE_ATTACK_H
#define BOX_ROLE_ATTACK_H

enum role { ROLE_INIT, ROLE_SUPERVISOR };

#ifdef OSTIARY_WEAK
/* role_attack(role): if this build was asked to (OSTIARY_ROLE_ATTACK), run the attack and end. */
void role_attack(enum role);
#else
static inline void role_attack(enum role r)
{
        (void)r;
}
#endif

#endif
