import { mnemonicToAccount } from 'viem/accounts'

const FIRST = 10

/** The account of a benchmark's solver: after the ten of `devAccounts`, from the same mnemonic. */
export function benchAccount(index: number) {
  return mnemonicToAccount('test test test test test test test test test test test junk', {
    addressIndex: FIRST + index,
  })
}

/** The number of accounts that anvil must fund for this many solvers. */
export function accountsFor(solvers: number): number {
  return FIRST + solvers
}
