/** Half of the order of secp256k1: a signature has two values of `s`, and contracts take the lower one only (EIP-2). */
export const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
