import { isAddress, maxUint256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { isRecord } from '../../chain/src/json-rpc.js'
import { LONGEST_TIMER_MS } from '../../client/src/calls/retry-delay.js'
import { BYTES32, CHAIN_ID, integerOf, MAX_PORT, PROTOCOL_NAME } from '../../protocol/src/field-rules.js'
import { isDisplayName } from '../../protocol/src/values/display-name.js'
import { endpointUrlProblem } from '../../protocol/src/values/endpoint-url.js'
import { isIntegerOf } from '../../protocol/src/values/numbers.js'
import type { ChainOptions, SolverOptions } from './solver-options.js'
import { CALLBACKS } from './solver-parts.js'

/** What a value must be, in words that follow the name of its option. */
type Rule = readonly [isRight: (value: unknown) => boolean, mustBe: string]

const LOG_METHODS = ['debug', 'info', 'warn', 'error']
const SIGNING_METHODS = ['signMessage', 'signTypedData', 'signTransaction']
const MAX_UINT32 = 2 ** 32 - 1
/** Nodes keep the state of 128 blocks as a rule. */
const MAX_CONFIRMATIONS = 120

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isShare = (value: unknown) => typeof value === 'number' && value >= 0 && value <= 1
const isUint256 = (value: unknown) => typeof value === 'bigint' && value >= 0n && value <= maxUint256
/** Letters of both cases must be those of EIP-55. */
const isAddressText = (value: unknown) => isText(value) && isAddress(value)

const FUNCTION: Rule = [(value) => typeof value === 'function', 'must be a function']
const TEXT: Rule = [isText, 'must be a text']
const MILLISECONDS = integer(1, LONGEST_TIMER_MS, 'must be an integer of at least 1, in milliseconds')
const SECONDS = integer(1, MAX_UINT32, 'must be an integer of at least 1, in seconds')
const POSITIVE_SHARE: Rule = [(value) => isShare(value) && value !== 0, 'must be a number above 0 to 1']
const WEI: Rule = [(value) => isUint256(value) && value !== 0n, 'must be a bigint of at least 1']

/** Options that must be given. */
const REQUIRED = ['account', 'name', 'aggregatorUrl', 'chains', 'quote', 'rpc', 'settlement', 'tokens']

const CHAIN_RULES: Record<keyof ChainOptions, Rule> = {
  rpc: [
    (value) => typeof value === 'function' || isUrl(value, /^(http|ws)s?:/i),
    'must be an http or ws URL, or a transport of viem',
  ],
  // The contract may take the tokens.
  settlement: [isAddressText, 'must be a 20-byte address in hex with 0x, with a right checksum'],
  tokens: [
    (value) => Array.isArray(value) && value.length > 0 && value.every(isToken),
    'must be a list of at least one address, or { address, allowance } with a bigint, with right checksums',
  ],
  pollIntervalMs: MILLISECONDS,
  confirmations: integer(0, MAX_CONFIRMATIONS),
  raiseFeesAfterMs: MILLISECONDS,
  maxFeePerGas: WEI,
  maxGas: WEI,
  maxPayments: integer(1, MAX_UINT32, 'must be an integer of at least 1'),
  cancelAbove: [isUint256, 'must be a bigint of at least 0, in units of the bond token'],
  maxCancelFees: WEI,
}

const CALLBACK_RULES = CALLBACKS.map((name) => [name, FUNCTION] as const)

const OPTION_RULES: Record<keyof SolverOptions, Rule> = {
  account: [
    (value) =>
      isPrivateKey(value) || (isAddressText(Object(value).address) && hasAll(value, SIGNING_METHODS)),
    'must be a private key of 32 bytes in hex with 0x, or an account with address, signMessage, signTypedData and signTransaction',
  ],
  name: [(value) => isText(value) && isDisplayName(value), 'must have 1 to 64 visible characters'],
  aggregatorUrl: [
    (value) => [value].flat().every((url) => isUrl(url, /^https?:/i)) && [value].flat().length > 0,
    'must be an http or https URL, or a list of at least one',
  ],
  protocolName: [(value) => isText(value) && PROTOCOL_NAME.pattern.test(value), PROTOCOL_NAME.mustBe],
  chains: [(value) => isRecord(value) && Object.keys(value).length > 0, 'must have at least one chain'],
  quote: FUNCTION,
  mayFill: FUNCTION,
  acceptLess: FUNCTION,
  endpointUrl: [
    (value) => isText(value) && endpointUrlProblem(value) === undefined,
    'must be an http or https URL in its normal form, without credentials, query and fragment',
  ],
  stateFile: TEXT,
  overcommit: [(value) => Number.isFinite(value) && Number(value) >= 1, 'must be a number of at least 1'],
  maxBondShare: POSITIVE_SHARE,
  maxOpenBond: POSITIVE_SHARE,
  maxAddressBondShare: [isShare, 'must be a number of 0 to 1'],
  minFillSeconds: SECONDS,
  maxLockSeconds: SECONDS,
  metricsPort: integer(1, MAX_PORT),
  metricsHost: TEXT,
  log: [(value) => hasAll(value, LOG_METHODS), `must have the functions ${LOG_METHODS.join(', ')}`],
  onError: FUNCTION,
  ...(Object.fromEntries(CALLBACK_RULES) as Record<(typeof CALLBACKS)[number], Rule>),
}

/**
 * Checks what a program without types may get wrong. A wrong limit or a misspelt option would otherwise show only when it costs
 * money.
 * @throws Error that names each wrong option and what it must be
 */
export function checkOptions(options: SolverOptions): void {
  const problems = [...problemsOf('', options, OPTION_RULES)]
  const { chains } = options ?? {}
  for (const [id, chain] of Object.entries(isRecord(chains) ? chains : {})) {
    if (isIntegerOf(CHAIN_ID, Number(id))) problems.push(...problemsOf(`chains[${id}].`, chain, CHAIN_RULES))
    else problems.push(`chains[${id}] is of no chain: a chain id ${CHAIN_ID.mustBe}`)
  }
  if (problems.length > 0) throw new Error(`the options of the solver are not valid: ${problems.join('; ')}`)
}

/** @param place what comes before the name of each option */
function problemsOf(place: string, values: unknown, rules: Readonly<Record<string, Rule>>): string[] {
  const given = isRecord(values) ? values : {}
  const isWrong = ([name, [isRight]]: [string, Rule]) =>
    given[name] === undefined ? REQUIRED.includes(name) : !isRight(given[name])
  const wrong = Object.entries(rules).filter(isWrong)
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(rules, name))
  return [
    ...wrong.map(([name, [, mustBe]]) => `${place}${name} ${mustBe}`),
    ...unknown.map((name) => `${place}${name} is not an option of this version`),
  ]
}

function integer(minimum: number, maximum: number, mustBe?: string): Rule {
  const limits = integerOf(minimum, maximum, mustBe)
  return [(value) => isIntegerOf(limits, value), limits.mustBe]
}

function isToken(token: unknown): boolean {
  return isRecord(token) ? isAddressText(token.address) && isUint256(token.allowance) : isAddressText(token)
}

function isUrl(value: unknown, form: RegExp): boolean {
  return form.test(String(value)) && URL.canParse(String(value))
}

function isPrivateKey(value: unknown): boolean {
  if (!isText(value) || !BYTES32.pattern.test(value)) return false
  try {
    return privateKeyToAccount(value as `0x${string}`) !== undefined
  } catch {
    return false
  }
}

/** Whether a value has all these functions. */
function hasAll(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof Object(value)[name] === 'function')
}
