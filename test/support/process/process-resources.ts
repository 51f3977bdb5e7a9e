import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** The interval between two reads of a process, shared by all callers. */
const LOOK_MS = 20

/** The open resources of a process at one moment. */
export interface ProcessResources {
  /** Inodes of its sockets, also of those that the other side has reset. */
  readonly sockets: ReadonlySet<string>
  /** How many of them are connections that the process has opened itself. */
  readonly outgoing: number
  /** Paths of the project's files that it has open: those that the system reads come and go. */
  readonly files: readonly string[]
  /** Its sockets by the port of the peer. A socket that was reset is missing. */
  readonly peers: ReadonlyMap<number, Peer>
}

interface Peer {
  /** The inode of the process's own end. */
  readonly inode: string
  /** Whether the process has read everything that has arrived. */
  readonly isRead: boolean
}

/** Whether `/proc` shows the resources of a process. */
export const CAN_SEE_RESOURCES = process.platform === 'linux'

/**
 * Reads the sockets and files of a process that serves a port of 127.0.0.1.
 * @param pid of the process
 */
export function watchResources(pid: number, port: number) {
  let next: Promise<ProcessResources> | undefined

  function look(): ProcessResources {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
    const sockets = links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
    const files = links.filter((link) => link.startsWith(`${process.cwd()}/`))
    const connections = readConnections()
    const others = connections.filter(({ localPort, remotePort }) => localPort !== port && remotePort !== 0)
    const outgoing = new Set(others.map(({ inode }) => inode))
    return {
      sockets: new Set(sockets),
      outgoing: sockets.filter((inode) => outgoing.has(inode)).length,
      files: files.toSorted(),
      peers: new Map(
        connections.filter(({ localPort }) => localPort === port).map((end) => [end.remotePort, end]),
      ),
    }
  }

  return {
    /** The resources of the process after the call, never those from before it. */
    look(): Promise<ProcessResources> {
      next ??= pause(LOOK_MS).then(() => {
        next = undefined
        return look()
      })
      return next
    },
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    // It was closed in the meantime.
    return ''
  }
}

/** Reads `/proc/net/tcp`: addresses are `<hex>:<hex port>`, `tx_queue:rx_queue` is the fifth field, the inode the tenth. */
function readConnections() {
  const lines = readFileSync('/proc/net/tcp', 'utf8').trimEnd().split('\n').slice(1)
  const connections = lines.map((line) => {
    const [, local = '', remote = '', , queues = '', , , , , inode = '0'] = line.trim().split(/\s+/)
    return {
      localPort: portOf(local),
      remotePort: portOf(remote),
      inode,
      isRead: queues.endsWith(':00000000'),
    }
  })
  // A connection without an inode belongs to no process: it is not accepted yet, or no longer open.
  return connections.filter(({ inode }) => inode !== '0')
}

const portOf = (address: string) => Number.parseInt(address.split(':')[1] ?? '', 16)
