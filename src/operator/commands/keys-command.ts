import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../../../packages/cli/src/arguments.js'
import { refused } from '../../../packages/cli/src/command-failure.js'
import type { CliIo } from '../../../packages/cli/src/io.js'
import { printResult } from '../../../packages/cli/src/output/print-result.js'
import { formatTime } from '../../../packages/cli/src/output/printable.js'
import { systemClock } from '../../../packages/protocol/src/clock.js'
import { DISPLAY_NAME, isDisplayName } from '../../../packages/protocol/src/values/display-name.js'
import { DAY_MS } from '../../../packages/protocol/src/values/time.js'
import { type ApiKey, formatApiKey, isValidAt, KEY_LIMITS, type KeyLimits } from '../../clients/api-key.js'
import { createApiKey, digestOf } from '../../clients/api-key-secret.js'
import type { ApiKeyStore, KeyChanges } from '../../store/operator/api-key-store.js'
import { takesOwnDatabase, withOperatorStores } from '../own-database.js'

interface Options {
  readonly json?: boolean
}

interface AddOptions extends Options {
  readonly label: string
  readonly limit?: KeyLimits
  readonly expires?: number
}

const SAMPLE = '4f1c09ab7e'
const MAX_LIMIT = 1_000_000
const MAX_LIFETIME_MS = 3650 * DAY_MS
/** A word in place of a number. */
const DEFAULT = 'default'
const OWN_LIMIT = `a limit of its own, of ${KEY_LIMITS.join(', ')}; 0 is no limit`
const FOLLOWS = 'A running service follows within 5 s.'

/** `keys`: the API keys of integrators (docs/decisions.md, D27). */
export function addKeys(program: Command, io: CliIo): void {
  const keys = program
    .command('keys')
    .description('API keys of your own instance. Each is a client of its own with its own limits.')
  const command = (usage: string, description: string, example: string) =>
    takesOwnDatabase(keys.command(usage).description(description), FOLLOWS, example)

  command(
    'add',
    'Makes a key and prints it. The database keeps only its digest, so that it cannot be printed again.',
    'keys add --label acme --limit quote=600 --limit streams=200 --expires 90d',
  )
    .requiredOption('--label <name>', 'who has the key, for logs and metrics', readLabel)
    .option('--limit <name=number>', OWN_LIMIT, readLimit)
    .option('--expires <time>', 'the time after which it ends, such as 90d or 12h', readLifetime)
    .action((options: AddOptions) => add(io, options))
  command('list', 'Lists all keys, the oldest first.', 'keys list').action(async (options: Options) =>
    print(io, options, await withOperatorStores(io, ({ keys: store }) => store.readAll())),
  )
  command('show', 'Shows a key with its limits.', `keys show ${SAMPLE}`)
    .argument('<id>')
    .action(async (id: string, options: Options) =>
      print(io, options, await withOperatorStores(io, (stores) => find(stores.keys, id))),
    )
  command(
    'limit',
    `Changes limits of a key. The word ${DEFAULT} in place of a number takes a limit back.`,
    `keys limit ${SAMPLE} quote=600 streams=${DEFAULT}`,
  )
    .argument('<id>')
    .argument('<name=number...>', OWN_LIMIT, readLimit)
    .action((id: string, changes: KeyLimits, options: Options) =>
      change(io, id, options, ({ limits }) => ({ limits: { ...limits, ...changes } })),
    )
  command(
    'rotate',
    'Replaces the secret of a key. The old one ends, with its streams. For a change without a gap, add a second key.',
    `keys rotate ${SAMPLE}`,
  )
    .argument('<id>')
    .action((id: string, options: Options) => {
      const { secret } = createApiKey(id)
      const replace = (key: ApiKey) => {
        if (stateOf(key) === 'expired') throw refused(`Key ${id} has expired: add a new one.`)
        return { digest: digestOf(secret) }
      }
      return change(io, id, options, replace, formatApiKey({ id, secret }))
    })
  command('revoke', 'Ends a key for ever, with its streams.', `keys revoke ${SAMPLE}`)
    .argument('<id>')
    .action((id: string, options: Options) =>
      change(io, id, options, () => ({ revokedAt: systemClock.now() })),
    )
}

async function add(io: CliIo, { label, limit = {}, expires, ...options }: AddOptions): Promise<void> {
  const { id, secret } = createApiKey()
  const createdAt = systemClock.now()
  const expiresAt = expires && createdAt + expires
  const ends = { changedAt: createdAt, expiresAt, revokedAt: undefined, lastUsedDay: undefined }
  const key: ApiKey = { id, label, digest: digestOf(secret), limits: limit, createdAt, ...ends }
  await withOperatorStores(io, async ({ keys }) => {
    const all = await keys.readAll()
    const same = all.find((other) => other.label === label && other.revokedAt === undefined)
    if (same !== undefined) throw refused(`Key ${same.id} has this label: revoke it, or take another label.`)
    await keys.add(key)
  })
  await print(io, options, key, formatApiKey({ id, secret }))
}

async function find(keys: ApiKeyStore, id: string): Promise<ApiKey> {
  const key = (await keys.readAll()).find((each) => each.id === id)
  if (key === undefined) throw refused(`There is no key ${id}: keys list shows all.`)
  return key
}

/** @param text the key, when it is new */
async function change(
  io: CliIo,
  id: string,
  options: Options,
  changesOf: (key: ApiKey) => Omit<KeyChanges, 'changedAt'>,
  text?: string,
): Promise<void> {
  const changed = await withOperatorStores(io, async ({ keys }) => {
    const key = await find(keys, id)
    if (await keys.change(id, { ...changesOf(key), changedAt: systemClock.now() })) return find(keys, id)
    throw refused(`Key ${id} is revoked.`)
  })
  await print(io, options, changed, text)
}

/** Prints keys as a table, and below it the text of a new one. In JSON, the digests are left out. */
async function print(io: CliIo, options: Options, keys: ApiKey | readonly ApiKey[], text?: string) {
  const views = [keys].flat().map((key) => ({ ...key, digest: undefined, state: stateOf(key), key: text }))
  await printResult(io, options, 'id' in keys ? views[0] : views, ({ table }) => {
    if (views.length === 0) return 'There is no key.\n'
    const rows = table(
      [
        ['id', ({ id }) => id],
        ['label', ({ label }) => label],
        ['state', ({ state }) => state],
        ['limits', ({ limits }) => limitsOf(limits)],
        ['created', ({ createdAt }) => formatTime(createdAt / 1000), 'minor'],
        ['changed', ({ changedAt }) => formatTime(changedAt / 1000)],
        ['expires', ({ expiresAt }) => (expiresAt === undefined ? 'never' : formatTime(expiresAt / 1000))],
        ['last use', ({ lastUsedDay }) => lastUsedDay ?? 'never'],
      ],
      views,
    )
    return text === undefined
      ? rows
      : `${rows}\n${text}\n\nCopy the key now: it cannot be shown again. A running service takes it within 5 s.\n`
  })
}

function stateOf(key: ApiKey): 'valid' | 'revoked' | 'expired' {
  if (isValidAt(key, systemClock.now())) return 'valid'
  return key.revokedAt === undefined ? 'expired' : 'revoked'
}

function limitsOf(limits: KeyLimits): string {
  const own = Object.entries(limits).filter(([, limit]) => limit !== undefined)
  return own.map(([name, limit]) => `${name}=${limit}`).join(', ')
}

function readLabel(text: string): string {
  if (!isDisplayName(text)) throw new InvalidArgumentError(`It ${DISPLAY_NAME.mustBe}.`)
  return text
}

/** @param before the limits that were read before */
function readLimit(text: string, before: KeyLimits = {}): KeyLimits {
  const [, name, number = ''] = /^([a-z-]+)=([0-9]{1,7}|default)$/.exec(text) ?? []
  const known = KEY_LIMITS.find((each) => each === name)
  if (known === undefined || Number(number) > MAX_LIMIT)
    throw new InvalidArgumentError(`It must be such as quote=600, with a number of 0 to ${MAX_LIMIT}.`)
  return { ...before, [known]: number === DEFAULT ? undefined : Number(number) }
}

function readLifetime(text: string): number {
  const lifetimeMs = parseDuration(text)
  if (lifetimeMs !== undefined && lifetimeMs <= MAX_LIFETIME_MS) return lifetimeMs
  throw new InvalidArgumentError('It must be such as 90d or 12h, at most 3650d.')
}
