import { createSocket } from 'node:dgram'
import { once } from 'node:events'

const HEADER_BYTES = 12
const TYPE_A = 1
const TYPE_AAAA = 28
const NXDOMAIN = 3

/** The server's answer for a name: its addresses, or no answer at all. */
export type Zone = Record<string, readonly string[] | 'silent'>

export type DnsServer = Awaited<ReturnType<typeof startDnsServer>>

/**
 * A name server over UDP on 127.0.0.1. A name that is not in its zone does not exist.
 * @param zone may change at any time; IPv6 addresses are full, of eight groups
 */
export async function startDnsServer(zone: Zone) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query)
    asked.push(`${type === TYPE_A ? 'A' : 'AAAA'} ${name}`)
    const entry = zone[name]
    if (entry === 'silent') return
    const family = (entry ?? []).filter((text) => text.includes(':') === (type === TYPE_AAAA))
    socket.send(
      answerTo(query.subarray(0, end), type, entry === undefined ? undefined : family),
      port,
      address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    /** The address in the form of a resolver. */
    address: `127.0.0.1:${socket.address().port}`,
    /** Each query, such as `A solver.test`. */
    asked,
    async close() {
      socket.close()
      await once(socket, 'close')
    },
  }
}

function readQuestion(query: Buffer) {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** @param addresses undefined when the name does not exist */
function answerTo(question: Buffer, type: number, addresses: readonly string[] | undefined): Buffer {
  const header = Buffer.from(question.subarray(0, HEADER_BYTES))
  header.writeUInt16BE(0x8180 | (addresses === undefined ? NXDOMAIN : 0), 2)
  header.writeUInt16BE(addresses?.length ?? 0, 6)
  header.writeUInt32BE(0, 8)
  const records = (addresses ?? []).map((text) => {
    const bytes = addressBytes(text)
    // The name of the query, the type, class IN, TTL 0.
    return Buffer.concat([
      Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]),
      bytes,
    ])
  })
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...records])
}

function addressBytes(text: string): Buffer {
  if (!text.includes(':')) return Buffer.from(text.split('.').map(Number))
  return Buffer.from(
    text
      .split(':')
      .map((group) => group.padStart(4, '0'))
      .join(''),
    'hex',
  )
}
