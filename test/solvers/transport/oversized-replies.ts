import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  CHUNKED,
  head,
  type MalformedSolver,
  malformedSolver,
} from '../../support/solvers/malformed-solvers.js'

export const FLOOD_BYTES = 200_000_000
const PIECE = 64 * 1024

/** Sends `top` once, and `piece` again and again, as fast as the service reads. */
const flood = (name: string, outcome: string, top: string, piece: string): MalformedSolver =>
  malformedSolver(name, outcome, async ({ socket, offer }) => {
    await offer()
    const bytes = Buffer.from(piece.repeat(Math.ceil(PIECE / piece.length)))
    function* pieces() {
      yield Buffer.from(top)
      for (let sent = 0; sent < FLOOD_BYTES; sent += bytes.length) yield bytes
    }
    await pipeline(Readable.from(pieces(), { objectMode: false }), socket)
  })

const SPACES = ' '.repeat(PIECE)
const REFUSAL = 'HTTP/1.1 500 Oops\r\n'

/** Solvers that never stop sending. */
export const oversizedReplies = [
  flood('a body of 200 MB', 'failed', head(`content-length: ${FLOOD_BYTES}`), SPACES),
  flood('a body of 200 MB in chunks of one byte', 'failed', CHUNKED, '1\r\n \r\n'),
  flood('200 MB of headers', 'failed', 'HTTP/1.1 200 OK\r\n', 'x: y\r\n'),
  flood(
    '200 MB of early hints before the answer',
    'failed',
    '',
    'HTTP/1.1 103 Early Hints\r\nlink: </>\r\n\r\n',
  ),
  flood('200 MB of trailers', 'failed', `${CHUNKED}0\r\n`, 'x: y\r\n'),
  flood('200 MB of chunk extensions', 'failed', CHUNKED, `1;${'x'.repeat(16_000)}\r\n \r\n`),
  flood('200 MB after an empty response', 'invalid malformed', head('content-length: 0'), SPACES),
  flood('200 MB of answers', 'invalid malformed', '', head('content-length: 0')),
  flood('a refusal of 200 MB', 'declined', `${REFUSAL}content-length: ${FLOOD_BYTES}\r\n\r\n`, SPACES),
]
