/** `kumo/content`: the readable part of a page, for HTML that comes from elsewhere. Pages of a crawl have it as fields. */

export { type ContentOptions, type MainContent, mainContent } from './extract/content/main-content.js'
