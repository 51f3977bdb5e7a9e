/** Loads what talks to wallets and contracts, which is larger than all the rest. */
export const loadWallet = () => import('./wallet.js')
