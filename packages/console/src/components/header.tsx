import { useEffect, useId, useState } from 'preact/hooks'
import { chain, chains, hrefHere, hrefOn } from '../data/chains.js'
import { healthOf } from '../data/health.js'
import { instance } from '../data/instance.js'
import { navigate, type PageName, route } from '../data/route.js'
import { placeOf } from '../data/search.js'
import { group } from '../format/amount.js'
import { shorten } from '../format/shorten.js'
import { formatDuration } from '../format/time.js'
import { SEARCH_ID } from '../keyboard.js'
import { wallet } from '../wallet/connected-wallet.js'

/** The places by their names, each with the pages below it. */
const LINKS: readonly (readonly [name: string, place: PageName, ...below: PageName[]])[] = [
  ['Swap', 'swap'],
  ['Market', 'market'],
  ['Solvers', 'solvers', 'solver'],
  ['Orders', 'orders', 'order', 'quote'],
]

/** Name, places, search, and the state of the chain. */
export function Header() {
  const isHere = (page: PageName) => page === route.value.page
  const known = wallet.value
  return (
    <header class="header">
      <div class="header-inner">
        <a class="brand" href={hrefHere('swap')}>
          {instance.hasLogo && <img src="logo" alt="" height={24} />}
          <bdi>{instance.name}</bdi>
        </a>
        <nav aria-label="Places">
          {LINKS.map(([name, ...pages]) => (
            <a key={name} href={hrefHere(pages[0])} aria-current={pages.some(isHere) ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <SearchBox id={SEARCH_ID} />
        {known !== undefined && (
          <a class="chip own-orders" href={hrefHere('orders', '', { user: known.address })}>
            My orders <code>{shorten(known.address)}</code>
          </a>
        )}
        <ChainState />
      </div>
    </header>
  )
}

/** A field that leads to what was pasted. @param id of the one that a key leads to */
export function SearchBox({ id }: { readonly id?: string }) {
  const problem = useId()
  const [isUnknown, setUnknown] = useState(false)
  const goTo = (text: string) => {
    const place = placeOf(text)
    setUnknown(place === undefined)
    if (place !== undefined) navigate(place)
    return place !== undefined
  }
  const search = (event: Event) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    if (goTo(String(new FormData(form).get('q')))) form.reset()
  }
  // The search of the other pages comes here.
  useEffect(() => {
    const asked = new URLSearchParams(location.search).get('q')
    if (asked === null) return
    history.replaceState(null, '', location.pathname)
    goTo(asked)
  }, [])
  return (
    <form class="search" onSubmit={search}>
      <input
        id={id}
        name="q"
        type="search"
        required
        enterkeyhint="search"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search"
        aria-label="Search by id of an order, a quote or a transaction, by address of a user, a solver or a token, or by name of a solver"
        aria-invalid={isUnknown}
        aria-describedby={problem}
        onInput={() => setUnknown(false)}
        onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
      />
      <kbd>/</kbd>
      <span id={problem} class="search-problem" role="status">
        {isUnknown ? 'This is no address, id, or name of an active solver or a token.' : ''}
      </span>
    </form>
  )
}

/** The same page of another chain. An order and a quote belong to their chain: their lists take their place. */
function hrefOfChain(chainId: number): string {
  const { page = 'swap', id } = route.value
  if (page === 'order' || page === 'quote') return hrefOn(chainId, 'orders')
  return hrefOn(chainId, page, id)
}

/** The chain of the page with its state. With several chains, a list to choose from. */
function ChainState() {
  const shown = chain.value
  if (shown === undefined) return <span class="chain-state" />
  const chainId = Number(shown.chainId)
  const state = healthOf(chainId)
  const status = state?.status ?? 'unknown'
  const lag = state?.lagMs === undefined ? '' : `, its block is ${formatDuration(state.lagMs)} old`
  const words = `${shown.name}: chain ${chainId} is ${status}, head ${group(String(state?.headBlock ?? shown.headBlock ?? '?'))}${lag}`
  return (
    <span class="chain-state" title={words}>
      <span class={`dot dot-${status}`} role="img" aria-label={words} />
      {(chains.value?.length ?? 0) > 1 ? (
        <select
          aria-label="Chain"
          value={chainId}
          onChange={(event) => navigate(hrefOfChain(Number(event.currentTarget.value)))}
        >
          {chains.value?.map(({ chainId: id, name }) => (
            <option key={String(id)} value={Number(id)}>
              {name}
            </option>
          ))}
        </select>
      ) : (
        <span class="chain-name">{shown.name}</span>
      )}
    </span>
  )
}
