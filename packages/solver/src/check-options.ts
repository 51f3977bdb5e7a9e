import { isAddress, maxUint256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { isRecord } from '../../chain/src/json-rpc.js'
import { LONGEST_TIMER_MS } from '../../client/src/calls/retry-delay.js'
import {
  ADDRESS,
  BYTES32,
  CHAIN_ID,
  integerOf,
  MAX_PORT,
  PROTOCOL_NAME,
} from '../../protocol/src/field-rules.js'
import { isDisplayName } from '../../protocol/src/values/display-name.js'
import { endpointUrlProblem } from '../../protocol/src/values/endpoint-url.js'
import { isIntegerOf } from '../../protocol/src/values/numbers.js'
import type { ChainOptions, SolverOptions } from './solver-options.js'

/** @returns what a value must be, to follow the name of its option; undefined when it is right */
type Rule = (value: unknown) => string | undefined

const LOG_METHODS = ['debug', 'info', 'warn', 'error']

const FUNCTION = rule((value) => typeof value === 'function', 'must be a function')
const MILLISECONDS = integerRule(1, LONGEST_TIMER_MS, 'must be an integer of at least 1, in milliseconds')
const SECONDS = integerRule(1, 2 ** 32 - 1, 'must be an integer of at least 1, in seconds')
const POSITIVE_SHARE = rule((value) => isShare(value) && value > 0, 'must be a number above 0 to 1')

/** Nodes keep the state of 128 blocks as a rule. */
const MAX_CONFIRMATIONS = 120
const POSITIVE_WEI = rule((value) => isUint256(value) && value > 0n, 'must be a bigint of at least 1, in wei')

/** Options that must be given. */
const REQUIRED = ['account', 'name', 'aggregatorUrl', 'chains', 'quote', 'rpc', 'settlement', 'tokens']

const CHAIN_RULES: Record<keyof ChainOptions, Rule> = {
  rpc: rule(
    (value) => typeof value === 'function' || isUrl(value, /^(http|ws)s?:/i),
    'must be an http or ws URL, or a transport of viem',
  ),
  settlement: address,
  tokens,
  pollIntervalMs: MILLISECONDS,
  confirmations: integerRule(0, MAX_CONFIRMATIONS),
  raiseFeesAfterMs: MILLISECONDS,
  maxFeePerGas: POSITIVE_WEI,
  maxGas: rule((value) => isUint256(value) && value > 0n, 'must be a bigint of at least 1'),
  maxPayments: integerRule(1, Number.MAX_SAFE_INTEGER, 'must be an integer of at least 1'),
  cancelAbove: rule(isUint256, 'must be a bigint of at least 0, in units of the bond token'),
  maxCancelFees: POSITIVE_WEI,
}

const OPTION_RULES: Record<keyof SolverOptions, Rule> = {
  account: rule(
    (value) => isPrivateKey(value) || isAccount(value),
    'must be a private key of 32 bytes in hex with 0x, or an account with address, signMessage, signTypedData and signTransaction',
  ),
  name: textRule(isDisplayName, 'must have 1 to 64 visible characters'),
  aggregatorUrl: rule(
    (value) => [value].flat().every((url) => isUrl(url, /^https?:/i)) && [value].flat().length > 0,
    'must be an http or https URL, or a list of at least one',
  ),
  protocolName: textRule((text) => PROTOCOL_NAME.pattern.test(text), PROTOCOL_NAME.mustBe),
  chains: rule((value) => isRecord(value) && Object.keys(value).length > 0, 'must have at least one chain'),
  quote: FUNCTION,
  fill: FUNCTION,
  acceptLess: FUNCTION,
  endpointUrl: (value) =>
    typeof value === 'string' ? endpointUrlProblem(value) : 'must be an http or https URL',
  stateFile: textRule((text) => text !== '', 'must be the path of a file'),
  overcommit: rule((value) => Number.isFinite(value) && Number(value) >= 1, 'must be a number of at least 1'),
  maxBondShare: POSITIVE_SHARE,
  maxOpenBond: POSITIVE_SHARE,
  maxAddressBondShare: rule(isShare, 'must be a number of 0 to 1'),
  minFillSeconds: SECONDS,
  maxLockSeconds: SECONDS,
  metricsPort: integerRule(1, MAX_PORT),
  metricsHost: textRule((text) => text !== '', 'must be an address of this machine'),
  log: rule(
    (value) => isRecord(value) && LOG_METHODS.every((name) => typeof value[name] === 'function'),
    `must have the functions ${LOG_METHODS.join(', ')}`,
  ),
  onSession: FUNCTION,
  onResult: FUNCTION,
  onQuoted: FUNCTION,
  onDeposit: FUNCTION,
  onDepositRemoved: FUNCTION,
  onFilled: FUNCTION,
  onMissed: FUNCTION,
  onCancelled: FUNCTION,
  onTransaction: FUNCTION,
  onError: FUNCTION,
}

/**
 * Checks what a program without types may get wrong. A wrong limit or a misspelt option would otherwise show only when it costs
 * money.
 * @throws Error that names each wrong option and what it must be
 */
export function checkOptions(options: SolverOptions): void {
  const problems = [...problemsOf('', options, OPTION_RULES)]
  const { chains } = options ?? {}
  if (isRecord(chains))
    for (const [id, chain] of Object.entries(chains)) problems.push(...chainProblems(id, chain))
  if (problems.length > 0) throw new Error(`the options of the solver are not valid: ${problems.join('; ')}`)
}

function chainProblems(id: string, chain: unknown): string[] {
  const place = `chains[${id}]`
  if (!isIntegerOf(CHAIN_ID, Number(id))) return [`${place} is of no chain: a chain id ${CHAIN_ID.mustBe}`]
  return problemsOf(`${place}.`, chain, CHAIN_RULES)
}

/** @param place what comes before the name of each option */
function problemsOf(place: string, values: unknown, rules: Readonly<Record<string, Rule>>): string[] {
  const given = isRecord(values) ? values : {}
  const wrong = Object.entries(rules).flatMap(([name, problemOf]) => {
    const isLeftOut = given[name] === undefined && !REQUIRED.includes(name)
    const problem = isLeftOut ? undefined : problemOf(given[name])
    return problem === undefined ? [] : [`${place}${name} ${problem}`]
  })
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(rules, name))
  return [...wrong, ...unknown.map((name) => `${place}${name} is not an option of this version`)]
}

function rule(isRight: (value: unknown) => boolean, mustBe: string): Rule {
  return (value) => (isRight(value) ? undefined : mustBe)
}

function textRule(isRight: (text: string) => boolean, mustBe: string): Rule {
  return rule((value) => typeof value === 'string' && isRight(value), mustBe)
}

function integerRule(minimum: number, maximum: number, mustBe?: string): Rule {
  const limits = integerOf(minimum, maximum, mustBe)
  return rule((value) => isIntegerOf(limits, value), limits.mustBe)
}

/** Letters of both cases must be those of EIP-55: the settlement contract may take the tokens. */
function address(value: unknown): string | undefined {
  if (typeof value !== 'string' || !ADDRESS.pattern.test(value)) return ADDRESS.mustBe
  return isAddress(value) ? undefined : 'has a wrong EIP-55 checksum: look for a wrong digit'
}

function tokens(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return 'must be a list of at least one token'
  for (const [index, token] of value.entries()) {
    const { address: of, allowance } = isRecord(token) ? token : { address: token, allowance: 0n }
    const problem =
      address(of) ??
      (isUint256(allowance) ? undefined : 'needs an allowance that is a bigint of 0 to 2^256-1')
    if (problem !== undefined) return `has a wrong token at index ${index}, which ${problem}`
  }
  return undefined
}

function isUint256(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n && value <= maxUint256
}

function isShare(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= 1
}

function isUrl(value: unknown, form: RegExp): boolean {
  return form.test(String(value)) && URL.canParse(String(value))
}

function isPrivateKey(value: unknown): boolean {
  if (typeof value !== 'string' || !BYTES32.pattern.test(value)) return false
  try {
    return privateKeyToAccount(value as `0x${string}`) !== undefined
  } catch {
    return false
  }
}

function isAccount(value: unknown): boolean {
  if (!isRecord(value) || address(value.address) !== undefined) return false
  return ['signMessage', 'signTypedData', 'signTransaction'].every(
    (name) => typeof value[name] === 'function',
  )
}
