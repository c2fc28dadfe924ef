"""Scrapy: concurrency and seeds are its arguments."""

import sys
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

concurrency, *seeds = sys.argv[1:]


class Sites(CrawlSpider):
    name = 'sites'
    start_urls = seeds
    allowed_domains = [urlsplit(seed).hostname for seed in seeds]
    rules = [Rule(LinkExtractor())]


process = CrawlerProcess(
    {
        'CONCURRENT_REQUESTS': int(concurrency),
        'CONCURRENT_REQUESTS_PER_DOMAIN': 10,
        'LOG_ENABLED': False,
        'TELNETCONSOLE_ENABLED': False,
        'COOKIES_ENABLED': False,
        'RETRY_ENABLED': False,
    }
)
process.crawl(Sites)
process.start()
