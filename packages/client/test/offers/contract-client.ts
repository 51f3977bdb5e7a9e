import {
  type Address,
  createClient,
  custom,
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  toHex,
} from 'viem'
import { settlementAbi } from '../../../../gen/contracts/settlement.js'
import { TERMS } from './signed-offer.js'

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

/**
 * A viem client of a node on which each address is a contract in this state; offers meet the real one in test/chain/verification/offer-check-contracts.test.ts.
 * @param fault answers a view in place of the contract, or is thrown when it is no text
 */
export function createContractClient(
  state: ContractState = WILLING,
  fault: (view: string) => unknown = () => undefined,
) {
  const request = async ({ method, params }: { method: string; params: [{ to: Address; data: Hex }] }) => {
    if (method === 'eth_chainId') return toHex(state.chainId)
    if (method === 'eth_getBlockByNumber') return { timestamp: toHex(state.time) }
    if (method === 'eth_blockNumber') return '0x64'
    if (method === 'eth_getCode') return '0x6000'
    const [{ to, data }] = params
    const { functionName } = decodeFunctionData({ abi: settlementAbi, data })
    const failure = fault(functionName)
    if (typeof failure === 'string') return failure
    if (failure !== undefined) throw failure
    const { name, version } = TERMS.domain
    const constants: Readonly<Record<string, unknown>> = {
      eip712Domain: ['0x0f', name, version, BigInt(state.chainId), to, `0x${'00'.repeat(32)}`, []],
      DEPOSIT_PROXY_CREATION_CODE_HASH: TERMS.depositProxyCodeHash,
    }
    const result = constants[functionName] ?? state[functionName as keyof ContractState]
    if (result === undefined) throw Object.assign(new Error('execution reverted'), { code: 3, data: '0x' })
    return encodeFunctionResult({ abi: settlementAbi, functionName, result } as never)
  }
  return createClient({ transport: custom({ request }, { retryCount: 0 }) })
}
