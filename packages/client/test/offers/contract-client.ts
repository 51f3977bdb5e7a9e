import { createClient, custom, decodeFunctionData, encodeFunctionResult, type Hex, toHex } from 'viem'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'

/** The state of a settlement contract. */
export interface ContractState {
  readonly solvers: readonly [bigint, bigint, bigint, number, boolean]
  readonly isNonceUsed: boolean
  /** Undefined when the contract does not have this view, or the next. */
  readonly BOND_RESERVATION_BPS: bigint | undefined
  readonly MIN_ORDER: bigint | undefined
  /** Of the newest block, Unix time in seconds. */
  readonly time: number
  readonly chainId: number
}

/** A state in which an offer has no problem. */
export const WILLING: ContractState = {
  solvers: [10n ** 18n, 0n, 0n, 0, true],
  isNonceUsed: false,
  BOND_RESERVATION_BPS: 500n,
  MIN_ORDER: 1n,
  time: 1_000_000,
  chainId: 31337,
}

/** A viem client of a node whose only contract is in this state; offers meet the real one in test/chain/verification/offer-checks.test.ts. */
export function createContractClient(state: ContractState = WILLING) {
  const request = async ({ method, params }: { method: string; params: [{ data: Hex }] }) => {
    if (method === 'eth_chainId') return toHex(state.chainId)
    if (method === 'eth_getBlockByNumber') return { timestamp: toHex(state.time) }
    const { functionName } = decodeFunctionData({ abi: settlementAbi, data: params[0].data })
    const result = state[functionName as keyof ContractState]
    if (result === undefined) throw Object.assign(new Error('execution reverted'), { code: 3, data: '0x' })
    return encodeFunctionResult({ abi: settlementAbi, functionName, result } as never)
  }
  return createClient({ transport: custom({ request }) })
}
