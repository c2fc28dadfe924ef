/** A hook that follows, as a module: with workers it runs inside them. */
export default {
  name: 'following',
  page: (page) => {
    if (page.depth > 0) return
    for (const to of ['/both', 'only']) page.follow(to, { label: 'detail', data: { from: '/' }, priority: 1 })
  },
}
