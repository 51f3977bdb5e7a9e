import { erc20Abi, getAbiItem, parseAbi } from 'viem'
import { settlementAbi as referenceAbi } from '../../../../gen/contracts/settlement.js'

/** What a solver reads and calls at the settlement contract (docs/protocol.md, "Contract calls"). */
export const settlementAbi = [
  ...referenceAbi,
  ...parseAbi(['function cancelNonces(uint248 word, uint256 mask)']),
] as const

/** The contract's event for a deposit by a call. Deposits at an address have none. */
export const DEPOSITED = getAbiItem({ abi: referenceAbi, name: 'Deposited' })

export const TRANSFER = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
