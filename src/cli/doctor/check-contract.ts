import { erc20Abi, formatUnits, type PublicClient } from 'viem'
import { settlementAbi } from '../../../gen/contracts/settlement.js'
import { checkProtocolName, explainWrongName, type ProtocolNameCheck } from '../../chain/protocol-name.js'
import { summary } from '../../chain/rpc-error.js'
import { createSettlement, NotASettlementError } from '../../chain/settlement.js'
import type { ChainConfig, Config } from '../../config.js'
import type { Address } from '../../domain/hex.js'
import { createQuoteHasher, type QuoteHasher } from '../../signing/typed-data.js'
import { checkOfferRules } from './check-offer-rules.js'
import { collectFindings, type Finding, type Findings } from './finding.js'

/**
 * Checks that there is a settlement contract of this protocol at the chain's address.
 * @param client of an endpoint that answers; undefined when there is none
 */
export async function checkContract(
  chain: ChainConfig,
  client: PublicClient | undefined,
  config: Config,
): Promise<readonly Finding[]> {
  const { chainId, settlement: address } = chain
  const variable = `SERVICE_ADDRESS_${chainId}`
  const findings = collectFindings(variable)
  const names = collectFindings('PROTOCOL_NAME')
  if (client === undefined) {
    findings.warn(
      '',
      'not checked: no endpoint of the chain can be used',
      `Correct RPC_URL_${chainId} first.`,
    )
    return findings.list
  }
  try {
    const code = await client.getCode({ address })
    if (code === undefined) {
      const cure = `Set ${variable} to the settlement contract of chain ${chainId}.`
      findings.fail('code', `there is no contract at ${address} on chain ${chainId}`, cure)
      return findings.list
    }
    findings.ok('code', `a contract of ${(code.length - 2) / 2} bytes at ${address}`)
    await checkProtocol(chain, client, config, { findings, names })
  } catch (error) {
    const cure = `The node failed meanwhile: try again, or take another endpoint into RPC_URL_${chainId}.`
    findings.fail('', `could not be read: ${summary(error)}`, cure)
  }
  return [...findings.list, ...names.list]
}

async function checkProtocol(
  chain: ChainConfig,
  client: PublicClient,
  { protocolName, minSolverBond }: Config,
  { findings, names }: { readonly findings: Findings; readonly names: Findings },
): Promise<void> {
  const { chainId, settlement: address } = chain
  const contract = { address, abi: settlementAbi } as const
  const settlement = createSettlement(client, chainId, address)
  let hasher: QuoteHasher
  try {
    hasher = createQuoteHasher(protocolName, await settlement.readDomain(protocolName))
    findings.ok('protocol', 'it has a DEPOSIT_PROXY_CREATION_CODE_HASH, as settlement contracts do')
  } catch (error) {
    if (!(error instanceof NotASettlementError)) throw error
    const cure = `Set SERVICE_ADDRESS_${chainId} to the settlement contract, behind its proxy if it has one.`
    findings.fail(
      'protocol',
      'it is no settlement contract: it has no DEPOSIT_PROXY_CREATION_CODE_HASH',
      cure,
    )
    return
  }
  noteProtocolName(await checkProtocolName(settlement, hasher), { chainId, address, protocolName }, names)
  const [domain, bond] = await Promise.allSettled([
    client.readContract({ ...contract, functionName: 'eip712Domain' }),
    readBondToken(client, address),
  ])
  noteDomain(domain, { chainId, address, protocolName }, findings)
  if (bond.status === 'fulfilled') {
    const { token, symbol, decimals } = bond.value
    const least = `MIN_SOLVER_BOND is ${formatUnits(minSolverBond, decimals)} ${symbol}`
    findings.ok('bond', `${least}, held in ${token} with ${decimals} decimals`)
  } else {
    findings.warn('bond', `its token could not be read: ${summary(bond.reason)}`)
  }
  await checkOfferRules(chain, client, findings)
}

async function readBondToken(client: PublicClient, address: `0x${string}`) {
  const token = await client.readContract({ address, abi: settlementAbi, functionName: 'BOND_TOKEN' })
  const [symbol, decimals] = await Promise.all([
    client.readContract({ address: token, abi: erc20Abi, functionName: 'symbol' }),
    client.readContract({ address: token, abi: erc20Abi, functionName: 'decimals' }),
  ])
  return { token, symbol, decimals }
}

interface Expected {
  readonly chainId: number
  readonly address: Address
  readonly protocolName: string
}

function noteProtocolName(
  check: ProtocolNameCheck,
  { chainId, address, protocolName }: Expected,
  findings: Findings,
): void {
  const subject = `chain ${chainId}`
  if (check === 'right') {
    findings.ok(subject, `the contract hashes quotes as ${protocolName}Quote`)
  } else if (check === 'wrong') {
    const cure = 'With another name, no solver has a valid signature and no quote is answered.'
    findings.fail(subject, explainWrongName(protocolName, chainId, address), cure)
  } else {
    const cure = `Solvers must sign ${protocolName}Quote: is that the name of the contract's struct?`
    findings.warn(subject, 'not checked: the contract has no computeDepositAddress', cure)
  }
}

type DomainAnswer = readonly [string, string, string, bigint, `0x${string}`, string, readonly bigint[]]

function noteDomain(
  answer: PromiseSettledResult<DomainAnswer>,
  expected: Expected,
  findings: Findings,
): void {
  const { chainId, address, protocolName } = expected
  if (answer.status === 'rejected') {
    const cure = `Solvers must sign with exactly this: is PROTOCOL_NAME right?`
    const text = `the contract does not tell (ERC-5267), so name ${protocolName} and version 1 are taken`
    findings.warn('EIP-712 domain', text, cure)
    return
  }
  const [, name, version, domainChainId, verifyingContract] = answer.value
  const text = `name ${name}, version ${version}, chain ${domainChainId}, contract ${verifyingContract}`
  const isItself =
    Number(domainChainId) === chainId && verifyingContract.toLowerCase() === address.toLowerCase()
  if (isItself) findings.ok('EIP-712 domain', text)
  else {
    const cure = `Is SERVICE_ADDRESS_${chainId} an implementation behind a proxy, or the chain a fork?`
    findings.warn('EIP-712 domain', `it names another place: ${text}`, cure)
  }
}
