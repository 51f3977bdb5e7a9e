import {
  BaseError,
  ContractFunctionRevertedError,
  ContractFunctionZeroDataError,
  domainSeparator,
  type PublicClient,
} from 'viem'
import { settlementAbi } from '../../gen/contracts/settlement.js'
import { type Address, type Hex, lowerCase } from '../domain/hex.js'
import { ORDER_STATES, type Order } from '../domain/order.js'
import { type Quote, toContractQuote } from '../domain/quote.js'
import type { SettlementTerms } from '../domain/settlement-terms.js'
import type { Bond } from '../domain/solver.js'
import { type TypedDataDomain, usedMembers } from '../domain/typed-data-domain.js'
import type { SettlementDomain } from '../signing/typed-data.js'

/** The settlement contract of one chain, as far as the service reads it (docs/protocol.md, "Contract views"). */
export interface Settlement {
  /**
   * Reads what the hashes of quotes depend on.
   * @param protocolName the domain's name if the contract does not answer `eip712Domain()` (docs/decisions.md, D1)
   * @throws NotASettlementError when the contract is of another kind
   */
  readDomain(protocolName: string): Promise<SettlementDomain & { readonly typedDataDomain: TypedDataDomain }>
  /** Reads the views that not every deployment has. */
  readTerms(): Promise<SettlementTerms>
  /**
   * Reads the deposit address of a quote; every value of the quote may be zero.
   * @returns lower case; undefined when the contract has no such view
   */
  readDepositAddress(quote: Quote, signature: Hex): Promise<Address | undefined>
  /** @param at the block whose state is read, also in the methods below; the latest block when empty */
  readBond(solver: Address, at: BlockParameter): Promise<Bond>
  isNonceUsed(solver: Address, nonce: bigint, at: BlockParameter): Promise<boolean>
  readOrder(orderId: Hex, at: BlockParameter): Promise<Order>
}

/** A block by its hash or number. */
export type BlockParameter = { readonly blockHash?: Hex } | { readonly blockNumber: bigint }

/** The contract at the address does not have the interface of a settlement contract. */
export class NotASettlementError extends Error {
  override readonly name = 'NotASettlementError'
}

/** Builds the reader of a settlement contract. Each method throws viem's errors when the chain does not answer. */
export function createSettlement(client: PublicClient, chainId: number, address: Address): Settlement {
  const contract = { address, abi: settlementAbi } as const

  async function readTypedDataDomain(protocolName: string): Promise<TypedDataDomain> {
    try {
      return usedMembers(await client.readContract({ ...contract, functionName: 'eip712Domain' }))
    } catch (error) {
      if (!isContractRevert(error)) throw error
      return { name: protocolName, version: '1', chainId, verifyingContract: address }
    }
  }

  const readOptional = (functionName: 'BOND_RESERVATION_BPS' | 'MIN_ORDER') =>
    optional(client.readContract({ ...contract, functionName }))

  return {
    async readDomain(protocolName) {
      const [domain, depositProxyCodeHash] = await Promise.all([
        readTypedDataDomain(protocolName),
        client.readContract({ ...contract, functionName: 'DEPOSIT_PROXY_CREATION_CODE_HASH' }),
      ]).catch((error) => {
        if (isContractRevert(error))
          throw new NotASettlementError('not a settlement contract', { cause: error })
        throw error
      })
      return {
        settlement: address,
        domainSeparator: domainSeparator({ domain }),
        depositProxyCodeHash,
        typedDataDomain: domain,
      }
    },

    async readTerms() {
      const [bondReservationBps, minOrder] = await Promise.all([
        readOptional('BOND_RESERVATION_BPS'),
        readOptional('MIN_ORDER'),
      ])
      return { bondReservationBps, minOrder }
    },

    async readDepositAddress(quote, signature) {
      const args = [toContractQuote(quote), signature] as const
      const call = { ...contract, functionName: 'computeDepositAddress', args } as const
      const depositAddress = await optional(client.readContract(call))
      return depositAddress && lowerCase(depositAddress)
    },

    async readBond(solver, at) {
      const [total, reserved, unstaking, , registered] = await client.readContract({
        ...contract,
        ...at,
        functionName: 'solvers',
        args: [solver],
      })
      return { registered, total, reserved, unstaking }
    },

    isNonceUsed: (solver, nonce, at) =>
      client.readContract({ ...contract, ...at, functionName: 'isNonceUsed', args: [solver, nonce] }),

    async readOrder(orderId, at) {
      const call = { ...contract, ...at, functionName: 'orders', args: [orderId] } as const
      const answer = await client.readContract(call)
      return toOrder(chainId, orderId, answer)
    },
  }
}

type OrderAnswer = readonly [Address, Address, Address, bigint, Address, bigint, bigint, number, number]

function toOrder(chainId: number, orderId: Hex, answer: OrderAnswer): Order {
  const [
    user,
    solver,
    inputToken,
    inputAmount,
    outputToken,
    outputAmount,
    outputChainId,
    fillDeadline,
    number,
  ] = answer
  const state = ORDER_STATES[number]
  if (state === undefined) throw new NotASettlementError(`order state ${number} is unknown`)
  if (state === 'NONE') return { state, chainId, orderId }
  if (outputChainId > Number.MAX_SAFE_INTEGER) throw new NotASettlementError('an output chain is no chain id')
  return {
    state,
    chainId,
    orderId,
    user: lowerCase(user),
    solver: lowerCase(solver),
    inputToken: lowerCase(inputToken),
    inputAmount,
    outputToken: lowerCase(outputToken),
    outputAmount,
    outputChainId: Number(outputChainId),
    fillDeadline,
  }
}

/** The answer of a view; undefined when the contract does not have it. */
async function optional<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (!isContractRevert(error)) throw error
    return undefined
  }
}

/** Whether the chain answered a failed read, so that a repetition would fail too. */
function isContractRevert(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false
  const answer = error.walk(
    (cause) =>
      cause instanceof ContractFunctionRevertedError || cause instanceof ContractFunctionZeroDataError,
  )
  return answer !== null
}
