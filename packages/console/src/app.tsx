import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { Chain } from '../../../gen/aggregator/v1/chain_pb.js'
import { ConnectionBar } from './components/connection-bar.js'
import { Footer } from './components/footer.js'
import { Header } from './components/header.js'
import { Empty, FailureNotice, FromTemplate, Skeleton } from './components/notice.js'
import { chain, chains, chainsFailure, hrefHere } from './data/chains.js'
import { instance } from './data/instance.js'
import { type PageName, route } from './data/route.js'
import { MarketPage } from './pages/market.js'
import { OrderPage } from './pages/order.js'
import { OrdersPage } from './pages/orders.js'
import { QuotePage } from './pages/quote.js'
import { SolverPage } from './pages/solver.js'
import { SolversPage } from './pages/solvers.js'
import { SwapPage } from './pages/swap.js'

interface PageProps {
  readonly chain: Chain
  readonly id: string
}

const PLACES: Readonly<Record<PageName, (props: PageProps) => ComponentChildren>> = {
  swap: SwapPage,
  market: MarketPage,
  solvers: SolversPage,
  orders: OrdersPage,
  solver: SolverPage,
  order: OrderPage,
  quote: QuotePage,
}
/** The whole console: header, state of the connection, and the page of the URL. */
export function App() {
  const { page, id } = route.value
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    // Screen readers follow to the new page, as they do between documents.
    if (!isFirst.current) main.current?.focus()
    isFirst.current = false
    scrollTo(0, 0)
  }, [page, id])
  const name = page === undefined ? 'No such page' : page.charAt(0).toUpperCase() + page.slice(1)
  // Before an effect of the page, which may add a price.
  useLayoutEffect(() => {
    document.title = `${name} · ${instance.name}`
  })
  return (
    <>
      <nav aria-label="Skip">
        <a class="skip" href={location.hash} onClick={() => main.current?.focus()}>
          Skip to the page
        </a>
      </nav>
      <Header />
      <ConnectionBar />
      {instance.notice !== undefined && <aside class="site-notice">{instance.notice}</aside>}
      <main ref={main} tabIndex={-1}>
        <Page />
      </main>
      <Footer />
    </>
  )
}

function Page() {
  const { page, id } = route.value
  const shown = chain.value
  if (shown === undefined) {
    if (chainsFailure.value !== undefined) return <FailureNotice failure={chainsFailure.value} />
    if (chains.value === undefined) return <Skeleton />
    return (
      <Empty title={`This instance does not serve the chain ${route.value.query.get('chain')}.`}>
        <a href={hrefHere('market')}>Market</a>
      </Empty>
    )
  }
  if (page === undefined) return <FromTemplate id="lost" />
  const Shown = PLACES[page]
  return <Shown key={`${page} ${shown.chainId} ${id}`} chain={shown} id={id} />
}
