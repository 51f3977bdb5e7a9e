import { ChainStatus } from '../../../gen/aggregator/v1/chain_health_pb.js'
import { ChainService } from '../../../gen/aggregator/v1/chain_pb.js'
import { VerifyMode } from '../../../gen/aggregator/v1/quote_pb.js'
import type { Chain } from '../../chain/chain.js'
import type { ChainConfig, Config } from '../../config/config.js'
import { toCachedChecksumAddress } from '../../signing/checksum.js'
import type { SolverDirectory } from '../../solvers/registry/solver-directory.js'
import { toUpperCase } from '../convert/convert.js'
import { toDomainMessage, toTokenMessage, toUint64 } from '../convert/convert-chains.js'
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
