/** The limits of requests: of one method, of opening streams or solver sessions, or of everything else. */
export const LIMITS = [
  'quote',
  'price',
  'order',
  'solvers',
  'streams',
  'global',
  'register',
  'unregister',
  'results',
  'sessions',
] as const

/** A limit of requests. */
export type LimitName = (typeof LIMITS)[number]

/** The limits whose requests may need a key. Those that solvers need are none of them (docs/decisions.md, D27). */
export const LIMITS_OF_USERS = LIMITS.slice(0, 6)

/** What a key may have limits of: requests, streams that are open at the same time, and their replays. */
export const KEY_LIMITS = [...LIMITS, 'open-streams', 'replays'] as const

/** The limits that the operator has set for a key; 0 is no limit. Others follow from those of an address. */
export type KeyLimits = Readonly<Partial<Record<(typeof KEY_LIMITS)[number], number>>>

/** An API key as it is stored (docs/decisions.md, D27). Times are Unix milliseconds. */
export interface ApiKey {
  readonly id: string
  /** Who has the key, for logs and metrics. No two keys that are not revoked have the same one. */
  readonly label: string
  /** SHA-256 of the secret, in hex. */
  readonly digest: string
  readonly limits: KeyLimits
  readonly createdAt: number
  /** When its secret or limits were last changed, or it was revoked. */
  readonly changedAt: number
  readonly expiresAt: number | undefined
  readonly revokedAt: number | undefined
  /** Such as `2026-11-27`, in UTC; undefined until the first use. */
  readonly lastUsedDay: string | undefined
}

/** Whether requests with the key are accepted. */
export function isValidAt({ revokedAt, expiresAt }: ApiKey, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || now < expiresAt)
}

/** The parts of a key that a client sends. */
export interface SentKey {
  readonly id: string
  readonly secret: string
}

/** 10 hex digits, and 32 bytes in base64url. */
const KEY = /^qa_([0-9a-f]{10})_([A-Za-z0-9_-]{43})$/

/** Reads a key; undefined for text of another form. */
export function parseApiKey(text: string): SentKey | undefined {
  const [, id, secret] = KEY.exec(text) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret }
}

/** The text of a key. */
export function formatApiKey({ id, secret }: SentKey): string {
  return `qa_${id}_${secret}`
}

/** Longer than two keys in one header. More text is one key of a wrong form, so that no header takes long to read. */
const MAX_HEADER_LENGTH = 200
const BEARER = /^bearer +(qa_.*)$/i

/**
 * The texts that a request sends as API keys, each once: those of `x-api-key`, which Node joins by commas, and that of
 * `Authorization: Bearer qa_…`. Other values of `Authorization` belong to a proxy.
 */
export function sentKeys(header: string | string[] | undefined, authorization: string | undefined): string[] {
  const text = String(header ?? '')
  const own = text.length > MAX_HEADER_LENGTH ? [text] : text.split(',').map((part) => part.trim())
  const [, bearer = ''] = BEARER.exec(authorization ?? '') ?? []
  return [...new Set([...own, bearer.trim()])].filter((text) => text !== '')
}
