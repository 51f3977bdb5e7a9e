import { create, type MessageInitShape } from '@bufbuild/protobuf'
import {
  type ChainHealth,
  ChainHealthSchema,
  ChainStatus,
} from '../../../gen/aggregator/v1/chain_health_pb.js'
import {
  ChainService,
  type Eip712DomainSchema,
  type PairSummarySchema,
  type TokenSchema,
  type TokenSummarySchema,
} from '../../../gen/aggregator/v1/chain_pb.js'
import { VerifyMode } from '../../../gen/aggregator/v1/quote_pb.js'
import { DOMAIN_TEXT, MAX_INTEGER } from '../../../packages/protocol/src/field-rules.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement/settlement.js'
import { toCachedChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import { missCost } from '../../../packages/protocol/src/solvers/miss-cost.js'
import { lowerCase } from '../../../packages/protocol/src/values/hex.js'
import type { Chain } from '../../chain/chain.js'
import type { BondToken } from '../../chain/tokens/bond-token.js'
import type { PairSummary, TokenSummary } from '../../chain/tokens/recent-trades.js'
import type { TokenMetadata } from '../../chain/tokens/token-reader.js'
import type { ChainConfig } from '../../config/config.js'
import { LOGOS_PATH } from '../../config/token-list.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import { toUpperCase } from '../convert/enum-words.js'
import { type Method, unaryMethod } from '../method.js'
import type { ServiceContext } from './context.js'

/** As many as ListTokens lists. */
const MAX_TOKENS = 500

/** The methods of ChainService (docs/decisions.md, D17; docs/decisions.md, D29). None of them waits for a node. */
export function createChainService({ config, chains, directory, trades }: ServiceContext): Method[] {
  function toMessages(described: ChainConfig) {
    const { chainId, settlement, destinationChains, name, explorerUrl, publicRpcUrl, tokenList } = described
    const chain = chains.get(chainId)
    if (chain === undefined) return []
    const { status, headBlock } = chain.status()
    const typedData = chain.quoteTypedData()
    const bondToken = chain.bondToken()
    const bondReservationBps = chain.bondReservationBps()
    const message = {
      chainId: BigInt(chainId),
      settlement: toCachedChecksumAddress(settlement),
      protocolName: config.protocolName,
      minimumBond: config.minSolverBond.toString(),
      destinationChainIds: destinationChains.map(BigInt),
      defaultDepositWindow: config.defaultDepositWindowSeconds,
      fillWindow: config.defaultFillWindowSeconds,
      quoteTimeoutMs: config.quoteTimeoutMs,
      quoteSoftTimeoutMs: config.quoteSoftTimeoutMs,
      maxQuoteFanOut: config.maxQuoteFanOut,
      verifyMax: VerifyMode[toUpperCase(config.verifyMax)],
      domain: typedData && toDomainMessage(typedData.domain),
      bondToken: bondToken && toTokenMessage(bondToken),
      status: ChainStatus[toUpperCase(status)],
      headBlock: toUint64(headBlock),
      activeSolvers: directory.active(chainId).length,
      name,
      explorerUrl,
      publicRpcUrl,
      bondReservationBps,
      missCosts: bondToken && toMissCosts(tokenList, bondReservationBps),
    }
    return [message]
  }

  const listChains = unaryMethod(ChainService.method.listChains, {
    limit: 'global',
    read: () => undefined,
    handle: () => ({ chains: config.chains.flatMap(toMessages) }),
  })

  const readChain = ({ chainId }: { readonly chainId: bigint }) => Number(chainId)

  const listTokens = unaryMethod(ChainService.method.listTokens, {
    limit: 'global',
    read: readChain,
    async handle(chainId) {
      const tokens = await trades.tokens(chainId)
      const unlisted = tokens.flatMap(({ address, listed }) => (listed === undefined ? [address] : []))
      const read = chains.get(chainId)?.describeTokens(unlisted) ?? []
      const described = new Map(unlisted.map((address, index) => [address, read[index]]))
      return { tokens: tokens.map((token) => toTokenSummary(token, described.get(token.address))) }
    },
  })

  const listPairs = unaryMethod(ChainService.method.listPairs, {
    limit: 'global',
    read: readChain,
    handle: async (chainId) => ({ pairs: (await trades.pairs(chainId)).map(toPairSummary) }),
  })

  return [listChains, listTokens, listPairs]
}

/** What a miss of each listed token costs. */
function toMissCosts(tokenList: ChainConfig['tokenList'], reservationBps: number | undefined) {
  return [...tokenList.values()].slice(0, MAX_TOKENS).map(({ address, symbol, decimals }) => ({
    token: toCachedChecksumAddress(address),
    symbol,
    bond: missCost(decimals, reservationBps === undefined ? undefined : BigInt(reservationBps)).toString(),
  }))
}

/** The message of a token. @param read what its contract says, for a token that is not listed */
function toTokenSummary(
  { address, listed, orders24h, lastUsed }: TokenSummary,
  read: TokenMetadata | undefined,
): MessageInitShape<typeof TokenSummarySchema> {
  const { symbol, decimals } = listed ?? read ?? {}
  return {
    address: toCachedChecksumAddress(address),
    symbol,
    decimals,
    listed: listed !== undefined,
    logo: listed?.logo && `${LOGOS_PATH}${listed.logo.name}`,
    orders24h: orders24h ?? 0,
    lastUsed: toUint64(lastUsed),
    name: listed?.name,
  }
}

function toPairSummary(pair: PairSummary): MessageInitShape<typeof PairSummarySchema> {
  return {
    inputToken: toCachedChecksumAddress(pair.inputToken),
    outputToken: toCachedChecksumAddress(pair.outputToken),
    destinationChainId: BigInt(pair.destinationChainId),
    listed: pair.listed,
    orders24h: pair.orders24h,
    inputVolume24h: pair.inputVolume24h.toString(),
    outputVolume24h: pair.outputVolume24h.toString(),
    medianFillMs24h: toUint64(pair.medianFillMs24h),
    lastUsed: toUint64(pair.lastUsed),
  }
}

/** The health of all chains of an instance, in the order of its configuration. */
export type ReadChainHealth = () => readonly ChainHealth[]

/** Builds the report of the chains for streams of events. */
export function createChainHealth(
  chains: ReadonlyMap<number, Chain>,
  directory: SolverDirectory,
): ReadChainHealth {
  return () =>
    [...chains.values()].map((chain) => {
      const { chainId, status, headBlock, lagMs } = chain.status()
      return create(ChainHealthSchema, {
        chainId: BigInt(chainId),
        status: ChainStatus[toUpperCase(status)],
        headBlock: toUint64(headBlock),
        lagMs: toUint64(lagMs && Math.round(lagMs)),
        activeSolvers: directory.active(chainId).length,
      })
    })
}

/** A block number or an age of a message. A node can answer anything, and one chain must not make the whole response fail. */
function toUint64(number: number | undefined): bigint | undefined {
  const isValid = number !== undefined && Number.isSafeInteger(number) && number >= 0
  return isValid ? BigInt(number) : undefined
}

/**
 * The message of an EIP-712 domain.
 * @returns undefined when the message cannot carry the whole domain, because a part of it would be another domain
 */
export function toDomainMessage(
  domain: TypedDataDomain,
): MessageInitShape<typeof Eip712DomainSchema> | undefined {
  const { name, version, chainId, verifyingContract, salt } = domain
  const isLong = [name, version].some((text = '') => text.length > DOMAIN_TEXT.maxLength)
  if (isLong || (chainId ?? 0) > MAX_INTEGER) return undefined
  return {
    name,
    version,
    chainId: chainId === undefined ? undefined : BigInt(chainId),
    verifyingContract: verifyingContract && toCachedChecksumAddress(lowerCase(verifyingContract)),
    salt,
  }
}

/** The message of a token. */
function toTokenMessage({ address, symbol, decimals }: BondToken): MessageInitShape<typeof TokenSchema> {
  return { address: toCachedChecksumAddress(address), symbol, decimals }
}
