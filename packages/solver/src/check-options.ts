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

const FUNCTION: Rule = [(value) => typeof value === 'function', 'must be a function']
const TEXT: Rule = [(value) => typeof value === 'string' && value !== '', 'must be a text']
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
  // The contract may take the tokens: letters of both cases must be those of EIP-55.
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

const OPTION_RULES: Record<keyof SolverOptions, Rule> = {
  account: [
    (value) => isPrivateKey(value) || (isRecord(value) && isAccount(value)),
    'must be a private key of 32 bytes in hex with 0x, or an account with address, signMessage, signTypedData and signTransaction',
  ],
  name: [
    (value) => typeof value === 'string' && isDisplayName(value),
    'must have 1 to 64 visible characters',
  ],
  aggregatorUrl: [
    (value) => [value].flat().every((url) => isUrl(url, /^https?:/i)) && [value].flat().length > 0,
    'must be an http or https URL, or a list of at least one',
  ],
  protocolName: [
    (value) => typeof value === 'string' && PROTOCOL_NAME.pattern.test(value),
    PROTOCOL_NAME.mustBe,
  ],
  chains: [(value) => isRecord(value) && Object.keys(value).length > 0, 'must have at least one chain'],
  endpointUrl: [
    (value) => typeof value === 'string' && endpointUrlProblem(value) === undefined,
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
  log: [
    (value) => isRecord(value) && hasMethods(value, LOG_METHODS),
    `must have the functions ${LOG_METHODS.join(', ')}`,
  ],
  ...ofAll(['quote', 'mayFill', 'acceptLess', 'onError', ...CALLBACKS], FUNCTION),
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

function ofAll<N extends string>(names: readonly N[], rule: Rule) {
  return Object.fromEntries(names.map((name) => [name, rule])) as Record<N, Rule>
}

function integer(minimum: number, maximum: number, mustBe?: string): Rule {
  const limits = integerOf(minimum, maximum, mustBe)
  return [(value) => isIntegerOf(limits, value), limits.mustBe]
}

function isAddressText(value: unknown): boolean {
  return typeof value === 'string' && isAddress(value)
}

function isToken(token: unknown): boolean {
  return isRecord(token) ? isAddressText(token.address) && isUint256(token.allowance) : isAddressText(token)
}

function isUint256(value: unknown): boolean {
  return typeof value === 'bigint' && value >= 0n && value <= maxUint256
}

function isShare(value: unknown): boolean {
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

function isAccount(value: Readonly<Record<string, unknown>>): boolean {
  return isAddressText(value.address) && hasMethods(value, SIGNING_METHODS)
}

function hasMethods(value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'function')
}
