import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** When a broadcast came: milliseconds of the first and the last message, and their number. */
interface Delivery {
  readonly firstAt: number
  readonly lastAt: number
  readonly messages: number
}

interface GatherOptions {
  readonly size: number
  /** Whether the server sends a first message, which is awaited and not counted. */
  readonly isGreeted: boolean
}

export type Crowd = Awaited<ReturnType<typeof gather>>

const CONNECTING_AT_ONCE = 100
const MAX_DELIVERY_MS = 60_000
const END_OF_HEAD = '\r\n\r\n'
const WHOLE_TEXT = 0x81
const LENGTH_FOLLOWS = 126
/** Bytes are counted at once and not kept, so one buffer serves all. */
const buffer = Buffer.alloc(256 * 1024)

/**
 * Many WebSocket clients of one server. They only count messages, so that the server is the busy part. They
 * do not answer pings, so they stay for at most half a minute.
 */
export async function gather(url: string, { size, isGreeted }: GatherOptions) {
  const sockets: Socket[] = []
  let expected = 0
  let count = 0
  let firstAt = 0
  let onComplete = (_: Delivery) => {}
  const onMessages = (messages: number) => {
    if (count === 0) firstAt = performance.now()
    count += messages
    if (count >= expected) onComplete({ firstAt, lastAt: performance.now(), messages: count })
  }
  while (sockets.length < size) {
    const joining = Math.min(CONNECTING_AT_ONCE, size - sockets.length)
    sockets.push(
      ...(await Promise.all(Array.from({ length: joining }, () => join(url, isGreeted, onMessages)))),
    )
  }

  return {
    /** Resolves when each client has got this many messages from now on. */
    delivery(messagesEach: number): Promise<Delivery> {
      expected = messagesEach * size
      count = 0
      return new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${count} of ${expected} messages came in time`)),
          MAX_DELIVERY_MS,
        )
        onComplete = (delivery) => {
          clearTimeout(timer)
          resolve(delivery)
        }
      })
    },
    /** Ends all connections, so that none of their ports stays taken for a while. */
    async leave(): Promise<void> {
      const closed = sockets.filter(({ closed }) => !closed).map((socket) => once(socket, 'close'))
      for (const socket of sockets) socket.resetAndDestroy()
      await Promise.all(closed)
    },
  }
}

/** Connects one client. Resolves when it is connected. */
function join(url: string, isGreeted: boolean, onMessages: (count: number) => void): Promise<Socket> {
  const { hostname, port, host, pathname, search } = new URL(url)
  const countMessages = createMessageCounter()
  let isUpgraded = false
  let isHere = false
  return new Promise((resolve, reject) => {
    const take = (length: number) => {
      let bytes = buffer.subarray(0, length)
      if (!isUpgraded) {
        const end = bytes.indexOf(END_OF_HEAD) + END_OF_HEAD.length
        isUpgraded = bytes.toString('latin1', 0, end).startsWith('HTTP/1.1 101 ')
        if (!isUpgraded) socket.destroy(new Error(`no WebSocket: ${bytes}`))
        bytes = bytes.subarray(end)
      }
      const messages = countMessages(bytes)
      if (isHere && messages > 0) onMessages(messages)
      if (!isHere && (messages > 0 || !isGreeted)) {
        isHere = true
        resolve(socket)
      }
      return true
    }
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback: take } })
    socket.on('error', reject)
    socket.write(
      `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
  })
}

/**
 * Counts the text messages that have ended in the bytes of a server's frames (RFC 6455, section 5.2) so far.
 */
function createMessageCounter(): (bytes: Buffer) => number {
  let beginning: Buffer = Buffer.alloc(0)
  let isText = false
  /** The end of the current frame, from the start of the next bytes. */
  let end = 0
  return (next) => {
    const bytes = beginning.length === 0 ? next : Buffer.concat([beginning, next])
    let messages = 0
    while (end <= bytes.length) {
      if (isText) messages++
      isText = false
      const lengthByte = bytes[end + 1]
      const headerLength = lengthByte === LENGTH_FOLLOWS ? 4 : 2
      if (lengthByte === undefined || end + headerLength > bytes.length) break
      isText = bytes[end] === WHOLE_TEXT
      end += headerLength + (lengthByte === LENGTH_FOLLOWS ? bytes.readUInt16BE(end + 2) : lengthByte)
    }
    beginning = Buffer.from(bytes.subarray(end))
    end = Math.max(0, end - bytes.length)
    return messages
  }
}
