import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { type ApiKey, formatApiKey, type KeyLimits } from '../../../src/clients/api-key.js'
import { createApiKey, digestOf } from '../../../src/clients/api-key-secret.js'
import type { ClientId } from '../../../src/clients/client-id.js'
import { identifyClient } from '../../../src/clients/client-id.js'
import { openKeyRing } from '../../../src/rpc/limits/key-ring.js'
import { createManualClock } from '../../support/manual-clock.js'

export const ADDRESS = '192.0.2.1'

/** A new key with its text. */
export function newKey(label: string, limits: KeyLimits = {}): { text: string; key: ApiKey } {
  const { id, secret } = createApiKey()
  const ends = { expiresAt: undefined, revokedAt: undefined, lastUsedDay: undefined }
  const dates = { createdAt: 0, changedAt: 0, ...ends }
  return {
    text: formatApiKey({ id, secret }),
    key: { id, label, digest: digestOf(secret), limits, ...dates },
  }
}

/** A ring over keys in memory, on a manual clock. Tests change `stored.keys`, and `stored.error` when the database is away. */
export async function openRing(...keys: readonly ApiKey[]) {
  const clock = createManualClock()
  const stored = { keys: [...keys], error: undefined as Error | undefined, reads: 0, uses: [] as string[] }
  const ring = await openKeyRing(
    {
      async readAll() {
        stored.reads++
        if (stored.error !== undefined) throw stored.error
        return [...stored.keys]
      },
      async recordUse(ids, day) {
        stored.uses.push(`${ids.join()} ${day}`)
        stored.keys = stored.keys.map((key) => (ids.includes(key.id) ? { ...key, lastUsedDay: day } : key))
      },
    },
    clock,
    pino({ level: 'silent' }),
  )
  onTestFinished(() => ring.close())
  const clientOf = (text: string | undefined, address = ADDRESS): ClientId =>
    ring.identify(identifyClient(address), text, undefined)
  return { ring, clock, stored, clientOf }
}
