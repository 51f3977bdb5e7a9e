import fc from 'fast-check'

/**
 * Which values a field accepts, by an oracle of its own (docs/decisions.md, D3, D4, D5), and values that are
 * nearly accepted.
 */
export interface FieldRule {
  /** @param value a JSON value; undefined when the field is left out */
  isValid(value: unknown): boolean
  readonly near: fc.Arbitrary<unknown>
}

const DIGITS = '0123456789'
const HEX_DIGITS = `${DIGITS}abcdefABCDEF`
const MAX_UINT256 = BigInt(`0x${'f'.repeat(64)}`)

const consistsOf = (characters: string, text: string) => [...text].every((one) => characters.includes(one))

const hexText = (digits: number) =>
  fc
    .string({ unit: fc.constantFrom(...HEX_DIGITS), minLength: digits, maxLength: digits })
    .map((text) => `0x${text}`)

/** A field of this many hex digits after `0x`. */
function hexRule(digits: number): FieldRule {
  const spoil = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.slice(0, -1),
    (text) => `${text}0`,
    (text) => text.slice(2),
    (text) => text.replace('0x', '0X'),
    (text) => `${text}\n`,
    (text) => ` ${text}`,
    (text) => `${text.slice(0, -1)}g`,
    (text) => `${text.slice(0, -1)}٠`,
    (text) => `${text.slice(0, -1)}\u0000`,
  )
  return {
    isValid: (value) =>
      typeof value === 'string' &&
      value.length === digits + 2 &&
      value.startsWith('0x') &&
      consistsOf(HEX_DIGITS, value.slice(2)),
    near: fc.tuple(hexText(digits), spoil).map(([text, change]) => change(text)),
  }
}

/** A field that accepts a JSON number or a canonical decimal string. */
function integerRule(min: number, max: number, isOptional = false): FieldRule {
  const edges = [min, max, min - 1, max + 1, 0, 1, 2 ** 53 - 1, 2 ** 53, 2 ** 64, 1.5, -1, 1e300]
  const texts = ['', ' 1', '1 ', '01', '+1', '-0', '1.0', '1e2', '0x1', '١', '1n', '1\n', '9007199254740993']
  return {
    isValid(value) {
      if (value === undefined || value === null) return isOptional
      const number = typeof value === 'string' && consistsOf(DIGITS, value) ? Number(value) : value
      if (typeof number !== 'number' || (typeof value === 'string' && String(number) !== value)) return false
      return Number.isInteger(number) && number >= min && number <= max
    },
    near: fc.oneof(
      fc.constantFrom(...edges, ...edges.map(String), ...texts, true, [1], {}, { valueOf: 1 }),
      fc.integer(),
      fc.integer({ min, max }).map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    ),
  }
}

function choiceRule(prefix: string, choices: readonly string[]): FieldRule {
  const [first = ''] = choices
  const near = ['UNSPECIFIED', first.toLowerCase(), `${prefix}_${first}`, ` ${first}`, `${first}\u0000`, 0, 1]
  return {
    isValid: (value) => choices.some((choice) => choice === value),
    near: fc.constantFrom(...choices, ...near, '', 'constructor', '__proto__', 'toString', [first]),
  }
}

const amountRule: FieldRule = {
  isValid(value) {
    if (typeof value !== 'string' || value === '' || !consistsOf(DIGITS, value)) return false
    const amount = BigInt(value)
    return String(amount) === value && amount >= 1n && amount <= MAX_UINT256
  },
  near: fc.oneof(
    fc.constantFrom('0', '00', '01', '-1', '+1', '1.0', '1e18', '0x1', ' 1', '1\n', '١', '1_000', 1, 1e18),
    fc.constantFrom(MAX_UINT256, MAX_UINT256 + 1n, MAX_UINT256 * 10n).map(String),
    fc.bigInt({ min: -10n, max: MAX_UINT256 * 2n }).map(String),
    fc.string({ unit: fc.constantFrom(...DIGITS), maxLength: 200 }),
  ),
}

const isLone = (character: string) => /^[\ud800-\udfff]$/.test(character)
/**
 * Blank or invisible text, or no character; also variation selectors and others that Unicode does not class
 * as such.
 */
const isUnseen = (character: string) =>
  isLone(character) ||
  /^[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]$/u.test(character) ||
  [0x180f, 0x2800, 0x13441, 0x13442, 0x16fe4, 0x1d159].includes(character.codePointAt(0) ?? 0)

const nameRule: FieldRule = {
  isValid(value) {
    if (typeof value !== 'string') return false
    const characters = [...value]
    const stacked = characters.map((character) => (/^[\p{Mn}\p{Me}]$/u.test(character) ? 'm' : ' ')).join('')
    return (
      value !== '' &&
      value.trim() === value &&
      characters.length <= 64 &&
      !characters.some(isUnseen) &&
      !/^\p{M}/u.test(value) &&
      !stacked.includes('mmmmm')
    )
  },
  near: fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ unit: fc.constantFrom('a', '\u0301', ' ', '\u00a0', '\u200d', '\u3164'), maxLength: 12 }),
    fc.constantFrom('', '😀'.repeat(64), '😀'.repeat(65), 'a\u0000', '\ud800', 'a\udc00b', '\u0085'),
  ),
}

const endpointRule: FieldRule = {
  isValid: (value) =>
    typeof value === 'string' &&
    value.length <= 2048 &&
    /^https?:\/\/[!-~]+$/.test(value) &&
    !/[?#@\\]|:(80|443|0)(\/|$)|\/\/[^/]*[A-Z]/.test(value) &&
    URL.canParse(value),
  near: fc.constantFrom(
    ...['https://a.example', 'http://127.0.0.1:1/x/', `https://a.example/${'a'.repeat(2048 - 18)}`],
    ...['HTTP://127.0.0.1:1/x/', 'https://a.example:443', 'https://A.example', 'https:a', 'https://@a'],
    ...[`https://a.example/${'a'.repeat(2048 - 17)}`, 'ftp://a.example', 'file:///etc', 'data:,', '//a'],
    ...['https://u@a.example', 'https://u:p@a.example', 'https://:p@a.example', 'https://a.example?'],
    ...['https://a.example#', 'https://a.example/?q', 'https://a.example/#f', 'https://', 'https://a b', ''],
    ...[
      'https://a.example:99999',
      'https://a.example:0',
      'https://[::1',
      'https://a.example/\u0000',
      'https://a.example/\n',
      '\thttps://a',
    ],
  ),
}

/** The fields of each request with a body, as their JSON names, for a service of this chain. */
export function requestRules(chainId: number) {
  const address = hexRule(40)
  const signed = { signature: hexRule(130), timestamp: integerRule(1, Number.MAX_SAFE_INTEGER) }
  return {
    quote: {
      inputToken: address,
      outputToken: address,
      orderType: choiceRule('ORDER_TYPE', ['EXACT_INPUT', 'EXACT_OUTPUT']),
      amount: amountRule,
      userAddress: address,
      originChainId: integerRule(chainId, chainId),
      destinationChainId: integerRule(chainId, chainId),
      depositMode: choiceRule('DEPOSIT_MODE', ['CONTRACT', 'ADDRESS']),
      depositWindow: integerRule(1, 86_400, true),
    },
    registration: { address, endpointUrl: endpointRule, name: nameRule, ...signed },
    unregistration: signed,
  }
}

/** The names of the fields of a body that are not valid, sorted. */
export function invalidFields(rules: Readonly<Record<string, FieldRule>>, body: Record<string, unknown>) {
  return Object.keys(rules)
    .filter((field) => !rules[field]?.isValid(body[field]))
    .sort()
}

/** New values for some fields of a request: nearly valid ones, any JSON, or none. */
export function changes(rules: Readonly<Record<string, FieldRule>>, count: { min: number; max: number }) {
  return fc
    .subarray(Object.entries(rules), { minLength: count.min, maxLength: count.max })
    .chain((chosen) =>
      fc.record(
        Object.fromEntries(
          chosen.map(([field, { near }]) => [
            field,
            fc.oneof(near, fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(undefined, null)),
          ]),
        ),
      ),
    )
}

const blank = fc.string({ unit: fc.constantFrom(' ', '\t', '\r', '\n'), maxLength: 3 })

/** JSON text of a string in any spelling: some characters are escaped. */
function stringText(text: string): fc.Arbitrary<string> {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map(
      (isEscaped) =>
        `"${Array.from({ length: text.length }, (_, index) =>
          isEscaped[index] ? escaped(text.charAt(index)) : JSON.stringify(text.charAt(index)).slice(1, -1),
        ).join('')}"`,
    )
}

/** JSON text of a value in any equivalent spelling: integers also as decimal strings or with `.0`. */
function valueText(field: string, value: unknown): fc.Arbitrary<string> {
  if (typeof value === 'number') return fc.constantFrom(`${value}`, `"${value}"`, `${value}.0`, `${value}e0`)
  const text = String(value)
  if (!/address$|token$/i.test(field)) return stringText(text)
  return fc
    .array(fc.boolean(), { minLength: 40, maxLength: 40 })
    .map(
      (isUpper) =>
        `"0x${[...text.slice(2)].map((digit, at) => (isUpper[at] ? digit.toUpperCase() : digit.toLowerCase())).join('')}"`,
    )
}

const protoName = (field: string) => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** JSON text of a body in any spelling that docs/decisions.md, D3 allows, with some unknown fields. */
export function spelling(body: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const known = new Set(Object.keys(body).flatMap((field) => [field, protoName(field)]))
  const own = Object.entries(body).map(([field, value]) =>
    fc
      .constantFrom(field, protoName(field))
      .chain((name) => fc.tuple(stringText(name), valueText(field, value))),
  )
  const unknownName = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'constructor',
      'toString',
      'InputToken',
      'amount ',
      '',
      'a.b',
      'chain_ID',
      'deposit_Window',
    ),
  )
  const unknown = fc
    .uniqueArray(fc.tuple(unknownName, fc.jsonValue()), { maxLength: 4, selector: ([name]) => name })
    .map((fields) =>
      fields
        .filter(([name]) => !known.has(name) && name !== '__proto__')
        .map(([name, value]) => [JSON.stringify(name), JSON.stringify(value)] as [string, string]),
    )
  return fc.tuple(fc.tuple(...own), unknown, blank, blank).chain(([fields, others, before, after]) => {
    const all = [...fields, ...others]
    return fc
      .shuffledSubarray(all, { minLength: all.length })
      .map((shuffled) =>
        shuffled.map(([name, value]) => `${before}${name}${after}:${before}${value}${after}`),
      )
      .map((members) => `${after}{${members.join(',')}}${before}`)
  })
}
