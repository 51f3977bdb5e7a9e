import { ChainService } from '../../gen/aggregator/v1/chain_pb.js'
import type { BondToken } from '../chain/bond-token.js'
import type { Chain, ChainStatus } from '../chain/chain.js'
import type { ChainConfig, Config } from '../config.js'
import { toCachedChecksumAddress } from '../signing/checksum.js'
import type { QuoteTypedData } from '../signing/typed-data.js'
import type { SolverDirectory } from '../solvers/solver-directory.js'
import { CHAIN_STATUSES, toDomainMessage, toTokenMessage, toUint64 } from './convert-chains.js'
import { memoizeLast } from './memoize-last.js'
import { type Method, unaryMethod } from './method.js'
import { VERIFY_NUMBERS } from './read-quote.js'

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
export function createChainService(options: ChainServiceOptions): Method[] {
  const { config, chains, directory } = options

  const messages = config.chains.flatMap((chainConfig) => {
    const { chainId } = chainConfig
    const chain = chains.get(chainId)
    if (chain === undefined) return []
    const toMessage = memoizeLast(createChainMessage(config, chainConfig))
    return () => {
      const { status, headBlock } = chain.status()
      const solvers = directory.active(chainId).length
      return toMessage(status, headBlock, solvers, chain.quoteTypedData(), chain.bondToken())
    }
  })
  // The same object for as long as nothing changes, so that REST keeps its text.
  const toResponse = memoizeLast((...listed: ReturnType<(typeof messages)[number]>[]) => ({ chains: listed }))

  const listChains = unaryMethod(ChainService.method.listChains, {
    limit: 'global',
    repeatsResponses: true,
    read: () => undefined,
    handle: () => toResponse(...messages.map((message) => message())),
  })

  return [listChains]
}

/** Builds the function that makes a chain's message of what changes. */
function createChainMessage(
  config: ChainServiceOptions['config'],
  chain: ChainServiceOptions['config']['chains'][number],
) {
  const fixed = {
    chainId: BigInt(chain.chainId),
    settlement: toCachedChecksumAddress(chain.settlement),
    protocolName: config.protocolName,
    minimumBond: config.minSolverBond.toString(),
    destinationChainIds: chain.destinationChains.map(BigInt),
    defaultDepositWindow: config.defaultDepositWindowSeconds,
    fillWindow: config.defaultFillWindowSeconds,
    quoteTimeoutMs: config.quoteTimeoutMs,
    quoteSoftTimeoutMs: config.quoteSoftTimeoutMs,
    maxQuoteFanOut: config.maxQuoteFanOut,
    verifyMax: VERIFY_NUMBERS[config.verifyMax],
  }
  return (
    status: ChainStatus['status'],
    headBlock: number | undefined,
    activeSolvers: number,
    typedData: QuoteTypedData | undefined,
    bondToken: BondToken | undefined,
  ) => ({
    ...fixed,
    domain: typedData && toDomainMessage(typedData.domain),
    bondToken: bondToken && toTokenMessage(bondToken),
    status: CHAIN_STATUSES[status],
    headBlock: toUint64(headBlock),
    activeSolvers,
  })
}
