import { LRUCache } from 'lru-cache'
import { type Batch, type Entry, MAX_BATCH } from './recent-entries.js'

/** The log by pages: each is read once for all who replay it at about the same time, as after a restart. */
export interface LogPages {
  /** The entries behind a sequence, as far as they are on one page; none of those that the log no longer has. */
  after(sequence: number): Promise<Batch>
}

const MAX_PAGES = 64

/** Builds the pages over a way to read the entries behind a sequence. */
export function createLogPages(readAfter: (sequence: number, limit: number) => Promise<Entry[]>): LogPages {
  const pages = new LRUCache<number, Promise<Batch>>({ max: MAX_PAGES })

  function read(start: number): Promise<Batch> {
    const page = readAfter(start, MAX_BATCH)
    pages.set(start, page)
    const forget = () => {
      if (pages.peek(start) === page) pages.delete(start)
    }
    // The last page is not whole yet: more will stand on it.
    page.then(({ length }) => length < MAX_BATCH && forget(), forget)
    return page
  }

  return {
    async after(sequence) {
      const start = sequence - (sequence % MAX_BATCH)
      const page = await (pages.get(start) ?? read(start))
      const rest = start === sequence ? page : page.filter((entry) => entry.sequence > sequence)
      // A page that was being read already may lack what has come since.
      return rest[0]?.sequence === sequence + 1 ? rest : readAfter(sequence, MAX_BATCH)
    },
  }
}
