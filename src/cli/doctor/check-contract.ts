import { erc20Abi, formatUnits, type PublicClient } from 'viem'
import { wordsOf } from '../../../packages/protocol/src/node-words.js'
import { findView, readView } from '../../../packages/protocol/src/read-view.js'
import type { TypedDataDomain } from '../../../packages/protocol/src/settlement.js'
import { settlementOf } from '../../../packages/protocol/src/settlement-of-chain.js'
import { ChainConfigError } from '../../chain/chain-errors.js'
import { checkProtocolName, type ProtocolNameCheck, wrongName } from '../../chain/contract/protocol-name.js'
import { verifyContract } from '../../chain/contract/verify-endpoint.js'
import type { ChainConfig, Config } from '../../config/config.js'
import type { Address } from '../../domain/values/hex.js'
import { toChecksumAddress } from '../../signing/checksum.js'
import type { QuoteHasher } from '../../signing/typed-data.js'
import { checkOfferRules } from './check-offer-rules.js'
import { type CheckResult, type CheckResults, collectResults } from './check-result.js'

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
  const checkResults = collectResults(variable)
  const names = collectResults('PROTOCOL_NAME')
  if (client === undefined) {
    checkResults.warn(
      '',
      'not checked: no endpoint of the chain can be used',
      `Correct RPC_URL_${chainId} first.`,
    )
    return checkResults.list
  }
  try {
    const code = await client.getCode({ address })
    if (code === undefined) {
      const remedy = `Set ${variable} to the settlement contract of chain ${chainId}.`
      checkResults.fail(
        'code',
        `there is no contract at ${toChecksumAddress(address)} on chain ${chainId}`,
        remedy,
      )
      return checkResults.list
    }
    checkResults.ok('code', `a contract of ${(code.length - 2) / 2} bytes at ${toChecksumAddress(address)}`)
    await checkProtocol(chain, client, config, { checkResults, names })
  } catch (error) {
    const remedy = `The node failed during the check. Try again, or use another endpoint in RPC_URL_${chainId}.`
    checkResults.fail('', `the contract could not be read: ${wordsOf(error)}`, remedy)
  }
  return [...checkResults.list, ...names.list]
}

async function checkProtocol(
  chain: ChainConfig,
  client: PublicClient,
  { protocolName, minSolverBond }: Config,
  { checkResults, names }: { readonly checkResults: CheckResults; readonly names: CheckResults },
): Promise<void> {
  const { chainId, settlement: address } = chain
  const { request } = client
  let hasher: QuoteHasher
  try {
    hasher = (await verifyContract(client, chain, protocolName)).hasher
    checkResults.ok(
      'protocol',
      'the contract has DEPOSIT_PROXY_CREATION_CODE_HASH, as settlement contracts do',
    )
  } catch (error) {
    if (!(error instanceof ChainConfigError)) throw error
    const remedy = `Set SERVICE_ADDRESS_${chainId} to the settlement contract, or to its proxy if it has one.`
    checkResults.fail(
      'protocol',
      'the contract is not a settlement contract: it has no DEPOSIT_PROXY_CREATION_CODE_HASH',
      remedy,
    )
    return
  }
  const expected = { chainId, address, protocolName }
  noteProtocolName(await checkProtocolName(request, chain, hasher), expected, names)
  noteDomain(await findView(request, address, settlementOf(chainId).domain()), expected, checkResults)
  const [bond] = await Promise.allSettled([readBondToken(client, chain)])
  if (bond.status === 'fulfilled') {
    const { token, symbol, decimals } = bond.value
    const least = `MIN_SOLVER_BOND is ${formatUnits(minSolverBond, decimals)} ${symbol}`
    checkResults.ok('bond', `${least}, held in ${toChecksumAddress(token)} with ${decimals} decimals`)
  } else {
    checkResults.warn('bond', `the bond token could not be read: ${wordsOf(bond.reason)}`)
  }
  await checkOfferRules(chain, client, checkResults)
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

interface Expected {
  readonly chainId: number
  readonly address: Address
  readonly protocolName: string
}

function noteProtocolName(
  check: ProtocolNameCheck,
  { chainId, address, protocolName }: Expected,
  checkResults: CheckResults,
): void {
  const subject = `chain ${chainId}`
  if (check === 'right') {
    checkResults.ok(subject, `the contract hashes quotes as ${protocolName}Quote`)
  } else if (check === 'wrong') {
    const remedy = 'With a wrong name, the signature of every solver is invalid, and no request gets a quote.'
    checkResults.fail(subject, wrongName(protocolName, chainId, address).message, remedy)
  } else {
    const remedy = `Solvers must sign ${protocolName}Quote: is that the name of the contract's struct?`
    checkResults.warn(subject, 'not checked: the contract has no computeDepositAddress', remedy)
  }
}

function noteDomain(
  domain: TypedDataDomain | undefined,
  { chainId, address, protocolName }: Expected,
  checkResults: CheckResults,
): void {
  if (domain === undefined) {
    const remedy = `Solvers must sign with exactly this name and version. Is PROTOCOL_NAME right?`
    const text = `the contract does not return it (ERC-5267), so the service uses name ${protocolName} and version 1`
    checkResults.warn('EIP-712 domain', text, remedy)
    return
  }
  const { name, version, chainId: domainChainId, verifyingContract } = domain
  const text = `name ${name}, version ${version}, chain ${domainChainId}, contract ${verifyingContract}`
  const isItself =
    Number(domainChainId) === chainId && verifyingContract?.toLowerCase() === address.toLowerCase()
  if (isItself) checkResults.ok('EIP-712 domain', text)
  else {
    const remedy = `Is SERVICE_ADDRESS_${chainId} the implementation of a proxy, or is the chain a fork?`
    checkResults.warn('EIP-712 domain', `it names another contract or chain: ${text}`, remedy)
  }
}
