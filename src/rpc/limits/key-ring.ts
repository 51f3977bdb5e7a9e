import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../packages/protocol/src/clock.js'
import { reasonOf, ServiceError } from '../../../packages/protocol/src/errors.js'
import { type ApiKey, isValidAt, parseApiKey, sentKeys } from '../../clients/api-key.js'
import { isSecretOf } from '../../clients/api-key-secret.js'
import type { ClientId, ClientKey } from '../../clients/client-id.js'
import { createRetry } from '../../concurrency/retry.js'
import type { ApiKeyStore } from '../../store/operator/api-key-store.js'
import type { Logger } from '../../telemetry/log.js'

/** The valid API keys, in memory (docs/decisions.md, D27). */
export type KeyRing = Awaited<ReturnType<typeof openKeyRing>>

/** For a server without keys. */
export const NO_KEYS: Pick<KeyRing, 'identify'> = { identify: (client) => client }

/** A valid key. */
interface Entry {
  readonly key: ApiKey
  readonly digest: Buffer
  readonly end: AbortController
  readonly asClient: ClientKey
}

/** How long a change may stay unseen, as long as the database answers. */
const REFRESH_MS = 2000
const NOT_VALID = 'This API key is unknown, expired or revoked.'

/** Reads all keys, and again every two seconds. @throws the database's error at the first read */
export async function openKeyRing(
  store: Pick<ApiKeyStore, 'readAll' | 'recordUse'>,
  clock: Clock,
  log: Logger,
) {
  const entries = new Map<string, Entry>()
  const used = new Set<string>()
  let keys: readonly ApiKey[] = []

  async function refresh(): Promise<void> {
    keys = await store.readAll()
    update()
    await recordUse()
  }

  /** Ends the keys that are no longer valid, and takes the others as they are now. */
  function update(): void {
    const valid = new Map(keys.filter((key) => isValidAt(key, clock.now())).map((key) => [key.id, key]))
    for (const [id, { key, end }] of entries) {
      if (valid.get(id)?.digest === key.digest) continue
      entries.delete(id)
      end.abort(new ServiceError('API_KEY_INVALID', NOT_VALID))
    }
    for (const [id, key] of valid) entries.set(id, toEntry(key, entries.get(id)?.end))
  }

  /** Notes the day, at most once a day for each key. */
  async function recordUse(): Promise<void> {
    const day = new Date(clock.now()).toISOString().slice(0, '2026-11-27'.length)
    const ids = [...used].filter((id) => entries.get(id)?.key.lastUsedDay !== day)
    used.clear()
    if (ids.length > 0) await store.recordUse(ids, day)
  }

  const refusalOf = (client: ClientId, refusal: string): ClientId => ({ ...client, refusal })

  await refresh()
  const refreshing = createRetry({
    work: refresh,
    delayMs: REFRESH_MS,
    onFailure: (error) =>
      log.warn(
        { reason: reasonOf(error) },
        'the API keys could not be read again, or their last use not be stored',
      ),
    onRecovery: () => log.info('the API keys are read again'),
    clock,
  })
  const timer = clock.setInterval(() => {
    // Keys expire also while the database is away.
    update()
    refreshing.run()
  }, REFRESH_MS)

  return {
    /**
     * Identifies the client of a request that may have an API key. No number of wrong keys reads from the database.
     * @param client the client by its address
     * @param header the value of `x-api-key`
     */
    identify(
      client: ClientId,
      header: string | string[] | undefined,
      authorization: string | undefined,
    ): ClientId {
      const [text, another] = sentKeys(header, authorization)
      if (text === undefined) return client
      if (another !== undefined) return refusalOf(client, 'The request has two different API keys.')
      const sent = parseApiKey(text)
      if (sent === undefined) return refusalOf(client, 'An API key has the form qa_<id>_<secret>.')
      const entry = entries.get(sent.id)
      if (entry === undefined || !isSecretOf(entry.digest, sent.secret)) return refusalOf(client, NOT_VALID)
      used.add(sent.id)
      return clientOf(entry, client.address)
    },
    async close(): Promise<void> {
      timer.stop()
      await refreshing.close()
    },
  }
}

function toEntry(key: ApiKey, end = new AbortController()): Entry {
  // Each stream of the key adds a listener. Node warns of a leak when there are more than ten.
  setMaxListeners(0, end.signal)
  const { label, limits } = key
  return { key, digest: Buffer.from(key.digest, 'hex'), end, asClient: { label, limits, ended: end.signal } }
}

/** A key is one client at whatever address. It shares its network and its region with nobody, so that these have no limits. */
function clientOf({ key: { id }, asClient }: Entry, address: string): ClientId {
  const key = `key ${id}`
  const own = { network: key, networks: [], region: key, isIpv6: false, isPrivate: true }
  return { ...own, key, address, apiKey: asClient }
}
