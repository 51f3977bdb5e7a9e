import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  decodeAbiParameters,
  domainSeparator,
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { deployedSettlementAbi } from '../../../gen/contracts/deployed-settlement.js'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { testTokenAbi } from '../../../gen/contracts/test-token.js'
import { createQuoteHasher } from '../../../packages/protocol/src/signing/typed-data.js'
import type { Address, Hex } from '../../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { Rules } from '../chain/chain.js'
import type { ServiceQuote } from '../chain/signed-quote.js'
import { createJournal, type ModelLog, Revert } from './journal.js'
import { createSettlementRules } from './settlement-rules.js'
import { type CallContext, createSettlementState, subtract } from './settlement-state.js'
import { createToken, type TokenModel } from './token-model.js'

/** Where the contracts are. Addresses in lower case. */
export interface ModelAddresses {
  readonly settlement: Address
  readonly bondToken: Address
  /** The other tokens, and what part of a transfer each burns, in percent. */
  readonly tokens: Readonly<Record<Address, bigint>>
  /** What tokens say of themselves. By default 18 decimals and `TOKEN`. */
  readonly metadata?: Readonly<Record<Address, TokenMetadata>>
}

interface TokenMetadata {
  readonly symbol: string
  readonly decimals: number
}

export interface ContractTerms {
  readonly rules: Rules
  readonly chainId: number
  readonly addresses: ModelAddresses
  readonly depositProxyCodeHash: Hex
  readonly minOrder: bigint
}

/** A log as nodes have it, without its place in a block. */
export interface EncodedLog {
  readonly address: Address
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** The contracts of a chain, as they answer calls in their bytes. */
export type ModelContracts = ReturnType<typeof createModelContracts>

const ABIS: Record<Rules, Abi> = { reference: settlementAbi, deployed: deployedSettlementAbi }
/** What `SafeERC20` and tokens revert with. */
const OTHER_ERRORS = testTokenAbi.filter(({ type }) => type === 'error')
const PANIC = parseAbi(['error Panic(uint256 code)'])
const VERSION = '1'
const UNNAMED: TokenMetadata = { symbol: 'TOKEN', decimals: 18 }

/** Builds the contracts without balances. */
export function createModelContracts(terms: ContractTerms) {
  const { addresses, chainId, rules: kind } = terms
  const { settlement, bondToken } = addresses
  const abi = ABIS[kind]
  const codec = CODECS[kind]
  const journal = createJournal()
  const fees = Object.entries({ [bondToken]: 0n, ...addresses.tokens }) as [Address, bigint][]
  const tokens = new Map(fees.map(([address, fee]) => [address, createToken(journal, address, fee)]))
  const domain = { name: 'Settlement', version: VERSION, chainId, verifyingContract: settlement }
  const state = createSettlementState(journal, {
    address: settlement,
    chainId,
    hasher: createQuoteHasher('Service', {
      settlement,
      domainSeparator: domainSeparator({ domain }),
      depositProxyCodeHash: terms.depositProxyCodeHash,
    }),
    bondToken: tokenAt(bondToken),
    minOrder: terms.minOrder,
    token: tokenAt,
  })
  const calls = createSettlementRules(state, kind)

  function tokenAt(address: Address): TokenModel {
    const token = tokens.get(lowerCase(address))
    if (token === undefined) throw new Error(`the model has no token ${address}`)
    return token
  }

  const metadataOf = ({ address }: TokenModel) => addresses.metadata?.[address] ?? UNNAMED

  const views: Record<string, (...args: never[]) => unknown> = {
    eip712Domain: () => [
      '0x0f',
      domain.name,
      VERSION,
      BigInt(chainId),
      settlement,
      `0x${'00'.repeat(32)}`,
      [],
    ],
    orders: (orderId: Hex) => Object.values(state.order(lowerCase(orderId))),
    solvers: (solver: Address) => Object.values(state.bondOf(lowerCase(solver))),
    isNonceUsed: (solver: Address, nonce: bigint) => state.isNonceUsed(lowerCase(solver), nonce),
    computeDepositAddress: (quote: ServiceQuote, signature: Hex) =>
      state.identify(quote, signature).depositAddress,
    DEPOSIT_PROXY_CREATION_CODE_HASH: () => terms.depositProxyCodeHash,
    BOND_TOKEN: () => bondToken,
    availableBond(solver: Address) {
      const { totalBond, reservedBond } = state.bondOf(lowerCase(solver))
      return subtract(totalBond, reservedBond)
    },
    BOND_RESERVATION_BPS: () => 500n,
    MIN_ORDER: () => terms.minOrder,
  }

  function callSettlement(context: CallContext, data: Hex): Hex {
    const { functionName, args, encode } = codec.decode(data)
    const view = views[functionName] as ((...args: readonly unknown[]) => unknown) | undefined
    if (view !== undefined) return encode(view(...args))
    const call = (calls as unknown as Record<string, (...args: readonly unknown[]) => void>)[functionName]
    if (call === undefined) throw new Error(`the model has no call ${functionName}`)
    call(context, ...args)
    return '0x'
  }

  function callToken(token: TokenModel, { sender }: CallContext, data: Hex): Hex {
    const { functionName, args, encode } = TOKEN_CODEC.decode(data)
    const [one, two, three] = args as [never, never, never]
    const results: Record<string, () => unknown> = {
      balanceOf: () => token.balanceOf(lowerCase(one)),
      allowance: () => token.allowance(lowerCase(one), lowerCase(two)),
      decimals: () => metadataOf(token).decimals,
      symbol: () => metadataOf(token).symbol,
      name: () => metadataOf(token).symbol,
      mint: () => token.mint(lowerCase(one), two),
      approve: () => token.approve(sender, lowerCase(one), two) ?? true,
      transfer: () => token.transfer(sender, lowerCase(one), two) ?? true,
      transferFrom: () => token.transferFrom(sender, lowerCase(one), lowerCase(two), three) ?? true,
    }
    const run = results[functionName]
    if (run === undefined) throw new Error(`the model has no call ${functionName} of tokens`)
    const result = run()
    return result === undefined ? '0x' : encode(result)
  }

  function call(context: CallContext, to: Address, data: Hex): Hex {
    if (to === settlement) return callSettlement(context, data)
    const token = tokens.get(to)
    return token === undefined ? '0x' : callToken(token, context, data)
  }

  return {
    settlement: state,
    token: tokenAt,
    /** Addresses that have code. */
    hasCode: (address: Address) => address === settlement || tokens.has(address),
    /** Changes the state as no call does. */
    set: (change: () => void) => void journal.run(change),
    /** Runs a transaction. @returns its logs and its steps @throws Revert, and Error for a call that the model does not have */
    transact(context: CallContext, to: Address, data: Hex) {
      const { logs, steps } = journal.run(() => call(context, to, data))
      return { logs: logs.map((log) => encodeLog(log, settlement, abi)), steps }
    },
    /** @returns the result in bytes @throws as `transact` */
    simulate: (context: CallContext, to: Address, data: Hex): Hex =>
      journal.simulate(() => call(context, to, data)),
    /** What a node answers for a revert. */
    encodeRevert(revert: Revert): Hex {
      const { errorName, args } = revert
      // The model does not recover a foreign signer.
      if (errorName === 'SignerNotSolver') return '0x'
      const all = [...(abi as Abi), ...OTHER_ERRORS, ...PANIC] as Abi
      return encodeErrorResult({ abi: all, errorName, args } as never)
    },
  }
}

/** Reads and writes the bytes of an interface. Viem hashes the signature of each function at each call, which takes time. */
function createCodec(abi: Abi) {
  const functions = new Map(
    abi
      .filter((item): item is AbiFunction => item.type === 'function')
      .map((item) => [toFunctionSelector(item), item]),
  )
  return {
    /** @throws Revert without data for a function that the contract does not have */
    decode(data: Hex) {
      const item = functions.get(data.slice(0, 10) as Hex)
      if (item === undefined) throw new Revert('')
      const bytes: Hex = `0x${data.slice(10)}`
      const args = item.inputs.length === 0 ? [] : decodeAbiParameters(item.inputs, bytes)
      return {
        functionName: item.name,
        args: args as readonly unknown[],
        encode: (result: unknown): Hex =>
          encodeAbiParameters(item.outputs, (item.outputs.length === 1 ? [result] : result) as never),
      }
    },
  }
}

function encodeLog(log: ModelLog, settlement: Address, abi: Abi): EncodedLog {
  const { address, eventName, args } = log
  const items = (address === settlement ? abi : (testTokenAbi as Abi)) as Abi
  const event = items.find((item): item is AbiEvent => item.type === 'event' && item.name === eventName)
  if (event === undefined) throw new Error(`there is no event ${eventName}`)
  const plain = event.inputs.filter(({ indexed }) => !indexed)
  return {
    address,
    topics: encodeEventTopics({ abi: [event], args } as never) as Hex[],
    data: encodeAbiParameters(plain, plain.map(({ name = '' }) => args[name]) as never),
  }
}

const CODECS: Record<Rules, ReturnType<typeof createCodec>> = {
  reference: createCodec(ABIS.reference),
  deployed: createCodec(ABIS.deployed),
}
const TOKEN_CODEC = createCodec(testTokenAbi as Abi)
