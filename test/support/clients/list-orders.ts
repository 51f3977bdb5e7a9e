import type { OrderMessage } from '../chain/chain-orders.js'
import type { TestService } from '../service/service.js'

/**
 * Reads all pages of a list of orders over REST.
 * @param query the filters and the page size
 * @param instanceOf the replica that is asked for a page, by the number of the page from 0
 */
export async function listOrders(
  chainId: number,
  query: Record<string, string | number>,
  instanceOf: (page: number) => TestService,
): Promise<OrderMessage[]> {
  const orders: OrderMessage[] = []
  let pageToken = ''
  for (let page = 0; ; page++) {
    const entries = Object.entries({ ...query, ...(pageToken && { pageToken }) })
    const search = new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, `${value}`])))
    const { status, body } = await instanceOf(page).get(`/v1/${chainId}/orders?${search}`)
    if (status !== 200) throw new Error(`page ${page}: ${status} ${JSON.stringify(body)}`)
    orders.push(...body.orders)
    pageToken = body.nextPageToken
    if (pageToken === '') return orders
  }
}
