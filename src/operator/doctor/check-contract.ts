import { formatUnits, type PublicClient } from 'viem'
import { ChainConfigError } from '../../../packages/chain/src/contract/chain-config-error.js'
import { checkProtocolName, wrongName } from '../../../packages/chain/src/contract/protocol-name.js'
import { readBondToken } from '../../../packages/chain/src/contract/read-bond-token.js'
import { verifyContract } from '../../../packages/chain/src/contract/verify-contract.js'
import { wordsOf } from '../../../packages/protocol/src/node/node-words.js'
import { findView } from '../../../packages/protocol/src/node/read-view.js'
import { readTerms } from '../../../packages/protocol/src/settlement/read-settlement.js'
import type { SettlementTerms } from '../../../packages/protocol/src/settlement/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement/settlement-of-chain.js'
import { type QuoteHasher, toChecksumAddress } from '../../../packages/protocol/src/signing/typed-data.js'
import { describeMiss, type MissTerms } from '../../../packages/protocol/src/solvers/miss-cost.js'
import type { ChainConfig, Config } from '../../config/config.js'
import { type CheckResult, CORRECT_IT, createReport, type Report } from './check-result.js'

/** What the checks of a contract have in common. */
interface Examined {
  readonly chain: ChainConfig
  readonly client: PublicClient
  readonly config: Config
  readonly report: Report
}

const REMEDY = `${CORRECT_IT} Where the contract has a proxy, SERVICE_ADDRESS is that of the proxy.`

/**
 * Checks that the configured address has a settlement contract of this protocol. What the start refuses is said as there.
 * @param client client of an endpoint that answers; undefined when no endpoint does
 */
export async function checkContract(
  chain: ChainConfig,
  client: PublicClient | undefined,
  config: Config,
): Promise<readonly CheckResult[]> {
  const { chainId, settlement } = chain
  const report = createReport(`SERVICE_ADDRESS_${chainId}`)
  const { ok, warn, fail, list } = report
  if (client === undefined) {
    warn('', 'not checked: no endpoint of the chain can be used', `Correct RPC_URL_${chainId} first.`)
    return list
  }
  const examined = { chain, client, config, report }
  try {
    const { hasher } = await verifyContract(client, chain, config.protocolName)
    ok('protocol', `${toChecksumAddress(settlement)} is a settlement contract`)
    await noteDomain(examined)
    const terms = await readTerms(client.request, chain)
    await checkBond(examined, terms)
    noteOfferRules(terms, report)
    await noteProtocolName(examined, hasher)
  } catch (error) {
    const remedy = `The node failed during the check. Try again, or use another endpoint in RPC_URL_${chainId}.`
    if (error instanceof ChainConfigError)
      return [...list, { status: 'fail', check: error.variable, checkResult: error.message, remedy: REMEDY }]
    fail('', `the contract could not be read: ${wordsOf(error)}`, remedy)
  }
  return list
}

async function noteDomain({ chain, client, config, report }: Examined): Promise<void> {
  const { chainId, settlement } = chain
  const domain = await findView(client.request, settlement, settlementOf(chainId).domain())
  const check = 'EIP-712 domain'
  if (domain === undefined) {
    const remedy = 'Solvers must sign with exactly this name and version. Is PROTOCOL_NAME right?'
    const text = `the contract does not return it (ERC-5267), so the service uses name ${config.protocolName} and version 1`
    return report.warn(check, text, remedy)
  }
  const { name, version, chainId: ofChain, verifyingContract } = domain
  const text = `name ${name}, version ${version}, chain ${ofChain}, contract ${verifyingContract}`
  const isItself =
    Number(ofChain) === chainId && verifyingContract?.toLowerCase() === settlement.toLowerCase()
  const remedy = 'It names another contract or chain. Is this the implementation of a proxy, or a fork?'
  report.judge(check, isItself, text, remedy)
}

async function checkBond(
  { chain, client, config, report }: Examined,
  { bondReservationBps }: SettlementTerms,
): Promise<void> {
  try {
    const { token, symbol, decimals } = await readBondToken(client, chain)
    const least = `MIN_SOLVER_BOND is ${formatUnits(config.minSolverBond, decimals)} ${symbol}`
    report.ok('bond', `${least}, held in ${toChecksumAddress(token)} with ${decimals} decimals`)
    noteMissCosts(chain, config.minSolverBond, { symbol, decimals, bondReservationBps }, report)
  } catch (error) {
    report.warn('bond', `the bond token could not be read: ${wordsOf(error)}`)
  }
}

/** Says what a miss of each listed token costs, and which the bond cannot cover: it counts smallest units, whatever they are worth. */
function noteMissCosts(
  { tokenList }: ChainConfig,
  leastBond: bigint,
  terms: MissTerms,
  { ok, warn }: Report,
): void {
  for (const token of tokenList.values()) {
    const { cost, most } = describeMiss(token, terms, leastBond)
    if (most === undefined) ok('bond', cost)
    else
      warn(
        'bond',
        `${cost}: it cannot be quoted, as a bond of MIN_SOLVER_BOND ${most}`,
        'Users can sell it, and not buy it.',
      )
  }
}

/** Reports which rules of the contract the service checks offers against. Not every deployment has both views. */
function noteOfferRules({ bondReservationBps, minOrder }: SettlementTerms, { ok, warn }: Report): void {
  if (bondReservationBps === undefined)
    warn('bond cover', 'the contract has no BOND_RESERVATION_BPS: offers are not checked against free bonds')
  else ok('bond cover', `the free bond must cover ${Number(bondReservationBps) / 100} % of an offer's output`)
  if (minOrder === undefined)
    warn('minimum order', 'the contract has no MIN_ORDER: offers are not checked against a minimum output')
  else ok('minimum order', `an output must be at least ${minOrder} of the token's smallest unit`)
}

async function noteProtocolName({ chain, client, config, report }: Examined, hasher: QuoteHasher) {
  const { protocolName } = config
  const check = await checkProtocolName(client.request, chain, hasher)
  if (check === 'wrong') throw wrongName(protocolName, chain.chainId, chain.settlement)
  const remedy = `Solvers must sign ${protocolName}Quote: is that the name of the contract's struct?`
  if (check === 'right') report.ok('PROTOCOL_NAME', `the contract hashes quotes as ${protocolName}Quote`)
  else report.warn('PROTOCOL_NAME', 'not checked: the contract has no computeDepositAddress', remedy)
}
