import * as z from 'zod'
import type { Topic } from '../store/topics.js'

/** Whether a message has the form of its topic. Others than replicas may reach the channels (docs/security.md). */
export function fitsTopic(topic: Topic, text: string): boolean {
  try {
    return SHAPES[topic].safeParse(JSON.parse(text)).success
  } catch {
    return false
  }
}

const integer = z.int()
const hash = z.string().regex(/^0x[0-9a-f]{64}$/)

const head = z.object({
  number: integer,
  hash,
  parentHash: hash,
  timestampMs: integer,
})
const snapshot = z.object({
  status: z.enum(['ok', 'syncing', 'down']),
  head: head.optional(),
  last: z.object({ number: integer, hash }).optional(),
  published: integer.optional(),
  unread: z
    .object({ block: integer, member: z.string().optional(), endpoint: z.string(), reason: z.string() })
    .optional(),
})

const SHAPES: Readonly<Record<Topic, z.ZodType>> = {
  events: integer,
  solvers: integer,
  bonds: integer,
  nonces: z.union([
    z.object({ chainId: integer, orderIds: z.array(hash) }),
    z.object({
      chainId: integer,
      solver: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
      used: z.array(z.string().regex(/^\d{1,78}$/)),
    }),
  ]),
  chains: z.union([
    z.object({ chainId: integer, snapshot }),
    z.object({ chainId: integer, invalidated: z.union([z.literal('all'), z.array(hash)]) }),
  ]),
}
