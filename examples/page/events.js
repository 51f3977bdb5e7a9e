/**
 * Follows the events of an instance in a page, over lost connections and refusals.
 * @param {string} url such as `https://quotes.example/v1/events?type=Settled`
 * @param {(event: object) => void} onEvent called with each message
 * @param {() => void} onGap called when events may be missing: read the state of your orders after the next `connected`
 * @returns {() => void} ends it
 */
export function followEvents(url, onEvent, onGap) {
  const address = new URL(url)
  const { searchParams } = address
  let pauseMs = 1000
  let isEnded = false
  let source
  let timer

  function open() {
    source = new EventSource(address)
    source.onmessage = ({ data, lastEventId }) => {
      pauseMs = 1000
      onEvent(JSON.parse(data))
      searchParams.set('after', lastEventId)
    }
    source.onerror = () => {
      // After a lost connection it is CONNECTING, and comes back by itself.
      if (source.readyState !== EventSource.CLOSED) return
      timer = setTimeout(openAgain, pauseMs * (0.5 + Math.random()))
      pauseMs = Math.min(2 * pauseMs, 30_000)
    }
  }

  async function openAgain() {
    if (searchParams.has('after') && (await statusOf(address)) === 400) {
      searchParams.delete('after')
      onGap()
    }
    if (!isEnded) open()
  }

  open()
  return () => {
    isEnded = true
    clearTimeout(timer)
    source.close()
  }
}

/** The status of a stream, which an EventSource does not say; undefined when no answer comes. */
async function statusOf(address) {
  const ending = new AbortController()
  const { signal } = ending
  const answer = await fetch(address, { signal }).catch(() => undefined)
  ending.abort()
  return answer?.status
}
