/** A rule for URLs, in a module. */

export default (url) => url.toLowerCase()
