/** What names, roles and words say about an element. The lists are those that sites use, in no particular language. */

import { type ContentElement, textIn } from './tree.js'

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** Elements that are never part of the content. */
const NEVER = words(
  'script style template noscript svg canvas nav footer aside button select input textarea option datalist dialog iframe ' +
    'object embed audio video map menu link meta title head fieldset legend area source track',
)
const OTHER_ROLES = words(
  'navigation banner contentinfo complementary search dialog alertdialog menu menubar tablist toolbar button status alert ' +
    'form tooltip',
)

const NOT_CONTENT =
  /(?:^|[\s_-])(?:nav(?:bar|igation|menu|links?|header|footer)?|menus?|breadcrumbs?|crumbs?|footer|foot|masthead|sidebar|side-?bar|aside|rail|cookies?|consent|gdpr|banner|popup|pop-?over|overlay|modal|lightbox|tooltip|paywall|newsletters?|subscri(?:be|ption|bers)|sign-?up|login|register|social(?!-media-embed|-embed)|share|shares|sharing|sharebar|share(?:this|tools|daddy)|addthis|addtoany|follow(?:-us|us)?|related|relatedposts|recirc\w*|recommend\w*|more-(?:stories|from|on|articles|news|coverage)|read-?more|read-?next|up-?next|also-(?:like|read)|most-(?:read|popular|viewed)|trending|popular|promos?|promoted|promotion|sponsor\w*|ads?|advert\w*|dfp|outbrain|taboola|revcontent|zergnet|disqus\w*|comments?|commentlist|respond|replies|reply|discussion|author-?(?:bio|box|info|card|description|about)?|bio|byline|by-line|dateline|timestamp|pub-?date|post-?meta|entry-?meta|article-?meta|meta|tags?|taglist|tag-list|topics|keywords|pagination|pager|pages|prev-?next|toolbar|tools|controls|player|video-?player|carousel|slideshow|gallery-nav|widgets?|tease?rs?|skip|skip-?link|print|print-?only|hidden|invisible|visually-?hidden|sr-?only|screen-reader\w*|credits?|copyright|disclaimer|rating|ratings|vote|votes|poll|survey|donate|feedback|jump-?to|back-?to-?top|mw-editsection|navbox|infobox-nav|catlinks|headerlink|hatnote|noprint)(?:$|[\s_-])/i

const CONTENT =
  /(?:^|[\s_-])(?:article-?_*(?:body|content|text|copy|main)|articlebody|post-?_*(?:body|content|text)|postcontent|entry-?_*(?:content|body|text)|story-?_*(?:body|content|text)|storybody|content-?_*(?:body|text)|body-?_*(?:copy|content|text)|main-?_*content|page-?_*content|rich-?text|markdown-body|mw-parser-output|td-post-content|field-name-body)(?:$|[\s_-])/i

const HIDDEN_STYLE = /display\s*:\s*none|visibility\s*:\s*hidden/i

/** Whether the element is never content, whatever it contains. */
export function isNever(element: ContentElement): boolean {
  return NEVER.has(element.tag) || (element.attributes.length > 0 && isHidden(element))
}

/** Whether its attributes say that it is not shown, or that its role is another. */
export function isHidden(element: ContentElement): boolean {
  const { attributes } = element
  for (let at = 0; at < attributes.length; at += 2) {
    const value = attributes[at + 1]!
    switch (attributes[at]) {
      case 'hidden':
        return true
      case 'aria-hidden':
        if (value === 'true') return true
        break
      case 'role':
        if (OTHER_ROLES.has(value)) return true
        break
      case 'style':
        if (HIDDEN_STYLE.test(value)) return true
        break
      default:
    }
  }
  return false
}

/** The names that an author gave to the element: its classes and, unless it is only an anchor, its id. */
export function namesOf(element: ContentElement, withId: boolean): string {
  const classes = element.attribute('class') ?? ''
  const id = withId ? (element.attribute('id') ?? '') : ''
  return separated(id === '' ? classes : `${classes} ${id}`)
}

/** `relatedPosts` as `related-Posts`. */
function separated(name: string): string {
  return name.replace(/([a-z])([A-Z])/g, '$1-$2')
}

export function saysNotContent(names: string): boolean {
  return names !== '' && NOT_CONTENT.test(names)
}

export function saysContent(names: string): boolean {
  return names !== '' && CONTENT.test(names)
}

const NEVER_CONTENT =
  /(?:^|[\s_-])(?:comments?|commentlist|disqus\w*|cookies?|consent|gdpr|footer|related\w*|recommend\w*|newsletters?|taboola|outbrain|most-(?:read|popular)|modal)(?:$|[\s_-])/i

/** Whether the names exclude even the larger part of a page. */
export function saysNever(names: string): boolean {
  return NEVER_CONTENT.test(names)
}

const BYLINE =
  /(?:^|[\s_-])(?:byline|author|dateline|entry-date|post-date|pub-?date|published|timestamp)(?:$|[\s_-])/i

/** Whether the names are those of an author or a date. */
export function saysByline(names: string): boolean {
  return names !== '' && BYLINE.test(names)
}

/** Whether the names are those of the caption of an image. */
export function saysCaption(names: string): boolean {
  return /caption/i.test(names)
}

const PERMALINK_MARK =
  /^\s*(?:[¶#§⚓∞]|🔗|\u{1f517}\ufe0f?|permalink|link to this (?:heading|section|definition))?\s*$/iu

/** Whether the element is a link from a heading to itself, whose text is only a mark. */
export function isPermalink(element: ContentElement): boolean {
  if (element.tag !== 'a' || element.attribute('href')?.startsWith('#') !== true) return false
  return element.children.length <= 1 && PERMALINK_MARK.test(textIn(element))
}

/** Whether the element is the checkbox of an item in a task list. */
export function isTaskBox(element: ContentElement): boolean {
  if (element.attribute('type') !== 'checkbox') return false
  const { parent } = element
  return (
    parent?.tag === 'li' || ((parent?.tag === 'p' || parent?.tag === 'label') && parent.parent?.tag === 'li')
  )
}
