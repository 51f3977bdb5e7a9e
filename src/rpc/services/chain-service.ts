import { create, type MessageInitShape } from '@bufbuild/protobuf'
import {
  type ChainHealth,
  ChainHealthSchema,
  ChainStatus,
} from '../../../gen/aggregator/v1/chain_health_pb.js'
import {
  ChainService,
  type Eip712DomainSchema,
  type TokenSchema,
} from '../../../gen/aggregator/v1/chain_pb.js'
import { VerifyMode } from '../../../gen/aggregator/v1/quote_pb.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement.js'
import type { Chain } from '../../chain/chain.js'
import type { BondToken } from '../../chain/contract/bond-token.js'
import type { ChainConfig, Config } from '../../config/config.js'
import { DOMAIN_TEXT, MAX_INTEGER } from '../../domain/field-rules.js'
import { lowerCase } from '../../domain/values/hex.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import { toUpperCase } from '../convert/enum-words.js'
import { type Method, unaryMethod } from '../method.js'

type ListedChain = Pick<Chain, 'status' | 'quoteTypedData' | 'bondToken'>

interface ChainServiceOptions {
  readonly config: Pick<
    Config,
    | 'protocolName'
    | 'minSolverBond'
    | 'defaultDepositWindowSeconds'
    | 'defaultFillWindowSeconds'
    | 'quoteTimeoutMs'
    | 'quoteSoftTimeoutMs'
    | 'maxQuoteFanOut'
    | 'verifyMax'
  > & { readonly chains: readonly Pick<ChainConfig, 'chainId' | 'settlement' | 'destinationChains'>[] }
  readonly chains: ReadonlyMap<number, ListedChain>
  readonly directory: Pick<SolverDirectory, 'active'>
}

/** The methods of ChainService (docs/decisions.md, D17). They read nothing from the chains. */
export function createChainService({ config, chains, directory }: ChainServiceOptions): Method[] {
  function toMessages({ chainId, settlement, destinationChains }: (typeof config.chains)[number]) {
    const chain = chains.get(chainId)
    if (chain === undefined) return []
    const { status, headBlock } = chain.status()
    const typedData = chain.quoteTypedData()
    const bondToken = chain.bondToken()
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
    }
    return [message]
  }

  const listChains = unaryMethod(ChainService.method.listChains, {
    limit: 'global',
    read: () => undefined,
    handle: () => ({ chains: config.chains.flatMap(toMessages) }),
  })

  return [listChains]
}

interface ChainHealthOptions {
  readonly chains: ReadonlyMap<number, Pick<Chain, 'status'>>
  readonly directory: Pick<SolverDirectory, 'active'>
}

/** The health of all chains of an instance, in the order of its configuration. */
export type ReadChainHealth = () => readonly ChainHealth[]

/** A report of this age is old. */
const MAX_AGE_MS = 1000

/** Builds the report of the chains for streams of events. Within a second it is the same one, so that many streams share it. */
export function createChainHealth({ chains, directory }: ChainHealthOptions): ReadChainHealth {
  let report: readonly ChainHealth[] = []
  let madeAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - madeAt >= MAX_AGE_MS) {
      madeAt = now
      report = [...chains.values()].map((chain) => {
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
    return report
  }
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
