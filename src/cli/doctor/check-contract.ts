import { erc20Abi, formatUnits, type PublicClient } from 'viem'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import { readTerms } from '../../../packages/protocol/src/read-settlement.js'
import { findView, readView } from '../../../packages/protocol/src/read-view.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement-of-chain.js'
import { ChainConfigError } from '../../chain/chain-errors.js'
import { checkProtocolName, wrongName } from '../../chain/contract/protocol-name.js'
import { verifyContract } from '../../chain/contract/verify-endpoint.js'
import type { ChainConfig, Config } from '../../config/config.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import type { QuoteHasher } from '../../signing/typed-data.js'
import { type CheckResult, createReport, type Report } from './check-result.js'

/** What the checks of a contract have in common. */
interface Examined {
  readonly chain: ChainConfig
  readonly client: PublicClient
  readonly config: Config
  readonly report: Report
  /** Of the variable PROTOCOL_NAME. */
  readonly names: Report
}

/**
 * Checks that the configured address has a settlement contract of this protocol.
 * @param client client of an endpoint that answers; undefined when no endpoint does
 */
export async function checkContract(
  chain: ChainConfig,
  client: PublicClient | undefined,
  config: Config,
): Promise<readonly CheckResult[]> {
  const { chainId, settlement: address } = chain
  const variable = `SERVICE_ADDRESS_${chainId}`
  const report = createReport(variable)
  const { ok, warn, fail, list } = report
  const place = toChecksumAddress(address)
  if (client === undefined) {
    warn('', 'not checked: no endpoint of the chain can be used', `Correct RPC_URL_${chainId} first.`)
    return list
  }
  const names = createReport('PROTOCOL_NAME')
  try {
    const code = await client.getCode({ address })
    if (code !== undefined) {
      ok('code', `a contract of ${(code.length - 2) / 2} bytes at ${place}`)
      await checkProtocol({ chain, client, config, report, names })
    } else {
      const remedy = `Set ${variable} to the settlement contract of chain ${chainId}.`
      fail('code', `there is no contract at ${place} on chain ${chainId}`, remedy)
    }
  } catch (error) {
    const remedy = `The node failed during the check. Try again, or use another endpoint in RPC_URL_${chainId}.`
    fail('', `the contract could not be read: ${wordsOf(error)}`, remedy)
  }
  return [...list, ...names.list]
}

async function checkProtocol(examined: Examined): Promise<void> {
  const { chain, client, config, report } = examined
  const view = 'DEPOSIT_PROXY_CREATION_CODE_HASH'
  const verified = await verifyContract(client, chain, config.protocolName).catch((error) => {
    if (!(error instanceof ChainConfigError)) throw error
  })
  if (verified === undefined) {
    const remedy = `Set SERVICE_ADDRESS_${chain.chainId} to the settlement contract, or to its proxy if it has one.`
    return report.fail('protocol', `the contract is not a settlement contract: it has no ${view}`, remedy)
  }
  report.ok('protocol', `the contract has ${view}, as settlement contracts do`)
  await noteProtocolName(examined, verified.hasher)
  noteDomain(examined, await findView(client.request, chain.settlement, settlementOf(chain.chainId).domain()))
  await checkBond(examined)
  await noteOfferRules(examined)
}

async function checkBond({ chain, client, config, report }: Examined): Promise<void> {
  try {
    const { token, symbol, decimals } = await readBondToken(client, chain)
    const least = `MIN_SOLVER_BOND is ${formatUnits(config.minSolverBond, decimals)} ${symbol}`
    report.ok('bond', `${least}, held in ${toChecksumAddress(token)} with ${decimals} decimals`)
  } catch (error) {
    report.warn('bond', `the bond token could not be read: ${wordsOf(error)}`)
  }
}

/** Reads the token of bonds. @throws ChainReadError, and viem's errors of a token without symbol or decimals */
export async function readBondToken(
  client: PublicClient,
  { chainId, settlement }: Pick<ChainConfig, 'chainId' | 'settlement'>,
) {
  const token = await readView(client.request, settlement, settlementOf(chainId).bondToken())
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address: token, abi: erc20Abi, functionName: 'symbol' }),
    client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' }),
  ])
  return { token, symbol, decimals }
}

async function noteProtocolName({ chain, client, config, names }: Examined, hasher: QuoteHasher) {
  const { chainId, settlement } = chain
  const { protocolName } = config
  const subject = `chain ${chainId}`
  const check = await checkProtocolName(client.request, chain, hasher)
  if (check === 'right') names.ok(subject, `the contract hashes quotes as ${protocolName}Quote`)
  else if (check === 'wrong') {
    const remedy = 'With a wrong name, the signature of every solver is invalid, and no request gets a quote.'
    names.fail(subject, wrongName(protocolName, chainId, settlement).message, remedy)
  } else {
    const remedy = `Solvers must sign ${protocolName}Quote: is that the name of the contract's struct?`
    names.warn(subject, 'not checked: the contract has no computeDepositAddress', remedy)
  }
}

function noteDomain({ chain, config, report }: Examined, domain: TypedDataDomain | undefined): void {
  const { chainId, settlement } = chain
  const what = 'EIP-712 domain'
  if (domain === undefined) {
    const remedy = `Solvers must sign with exactly this name and version. Is PROTOCOL_NAME right?`
    const text = `the contract does not return it (ERC-5267), so the service uses name ${config.protocolName} and version 1`
    report.warn(what, text, remedy)
    return
  }
  const { name, version, chainId: ofChain, verifyingContract } = domain
  const text = `name ${name}, version ${version}, chain ${ofChain}, contract ${verifyingContract}`
  const isItself =
    Number(ofChain) === chainId && verifyingContract?.toLowerCase() === settlement.toLowerCase()
  const remedy = `Is SERVICE_ADDRESS_${chainId} the implementation of a proxy, or is the chain a fork?`
  report.judge(what, isItself, isItself ? text : `it names another contract or chain: ${text}`, remedy)
}

/** Reports which rules of the contract the service checks offers against. Not every deployment has both views. */
async function noteOfferRules({ chain, client, report: { ok, warn } }: Examined): Promise<void> {
  const { bondReservationBps, minOrder } = await readTerms(client.request, chain)
  if (bondReservationBps !== undefined) {
    const part = `${Number(bondReservationBps) / 100} % of its output`
    ok('bond cover', `an offer reserves ${part}, which the solver's free bond must cover`)
  } else
    warn('bond cover', 'the contract has no BOND_RESERVATION_BPS: offers are not checked against free bonds')
  if (minOrder !== undefined)
    ok('minimum order', `an output must be at least ${minOrder} of the token's smallest unit`)
  else warn('minimum order', 'the contract has no MIN_ORDER: offers are not checked against a minimum output')
  const others = chain.destinationChains.filter((destination) => destination !== chain.chainId)
  if (others.length === 0) return
  const list = `${others.length} in addition to the chain itself: ${others.join(', ')}`
  warn('destinations', `${list}. The service cannot check that the contract accepts quotes for them`)
}
