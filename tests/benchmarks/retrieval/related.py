"""Entries as people write them, and for each what somebody may say when its subject comes up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    title: str
    content: str
    messages: tuple[str, ...]


def _subject(title: str, content: str, messages: str) -> Subject:
    return Subject(title, content, tuple(line.strip() for line in messages.strip().splitlines()))


SUBJECTS = (
    _subject(
        "Redis locks need an expiry",
        "Use SET key value NX PX 30000. Without PX a crashed worker holds the lock forever. Release with a script that "
        "compares the token, or you delete somebody else's lock.",
        """should my redis lock have an expiry?
        our worker crashed and the lock in redis is held forever
        is SET NX enough or do I need PX as well
        how do I release a redis lock without deleting somebody else's""",
    ),
    _subject(
        "Retry with exponential backoff and jitter",
        "Without jitter all clients retry at the same moment after an outage. Cap the delay at 30 s, the attempts at "
        "five; never retry a request that is not idempotent.",
        """add exponential backoff to the http client
        all clients hammer the server at once after an outage
        how many attempts should a retry have, and what delay?
        why does our backoff need jitter""",
    ),
    _subject(
        "SQLite: writers must BEGIN IMMEDIATE",
        "A deferred transaction that reads first and then writes gets SQLITE_BUSY at once, whatever the busy timeout.",
        """I get SQLITE_BUSY although the busy timeout is 15 seconds
        sqlite says database is locked when two writers upgrade
        when do I need BEGIN IMMEDIATE?
        does a deferred transaction respect the busy timeout in sqlite""",
    ),
    _subject(
        "Docker layer cache: copy the lock file first",
        "Copy the lock file and install dependencies before copying the sources; otherwise every change of a source "
        "file reinstalls everything.",
        """docker build reinstalls all dependencies every time
        which order of COPY makes the docker layer cache work
        our image build is slow since every source change invalidates the cache layer
        where in the Dockerfile do I copy the lock file""",
    ),
    _subject(
        "No mutable default arguments",
        "A list or dict as a default is made once and shared by all calls. Use None and make it inside the function.",
        """is a list as a default argument ok in this review?
        the default dict of my function keeps values between calls
        why are mutable defaults a bad idea in python
        review this signature: def add(item, items=[])""",
    ),
    _subject(
        "Liveness probes restart slow starters",
        "A pod that boots slowly is killed by its liveness probe and never gets up. Give it a startupProbe with a long "
        "failureThreshold.",
        """the pod restarts forever because the liveness probe fails during boot
        kubernetes kills our slow starting service
        what failureThreshold does the startupProbe need
        do I use a startup probe or a longer liveness delay""",
    ),
    _subject(
        "Payment webhooks arrive twice",
        "The provider delivers at least once. Store the event id with a unique constraint and answer 200 to repeats.",
        """the payment webhook is delivered twice
        how do we ignore a repeated webhook event
        which status do we answer for a duplicate payment event
        customers were charged twice after a webhook retry""",
    ),
    _subject(
        "Store instants in UTC, convert at the edge",
        "Naive datetimes are refused by the model layer. The browser's time zone is used for display only.",
        """which time zone should we store datetimes in
        a naive datetime raised an error in the model layer
        where do we convert UTC to the user's time zone
        daylight saving broke our report; do we store UTC?""",
    ),
    _subject(
        "Qt: never block the event loop",
        "Work longer than 50 ms goes to a thread. exec() of a dialog inside a coroutine wedges every other task under "
        "qasync; use open() and the finished signal.",
        """the Qt window freezes while we load the file
        can I call exec() on a dialog inside a coroutine?
        qasync tasks hang when a dialog is shown
        how long may a slot run before the event loop stutters""",
    ),
    _subject(
        "Feature flags have an owner and a removal date",
        "Stale flags caused the March outage. The nightly job lists flags past their date; their owner removes them.",
        """when do we remove a stale feature flag
        who owns the feature flags that are past their date
        which flags caused the March outage
        add a feature flag for the new checkout: what must I fill in""",
    ),
    _subject(
        "Index foreign keys in Postgres",
        "Postgres does not index the referencing column. A delete of the parent scans the whole child table without "
        "one, and holds the lock meanwhile.",
        """deleting a parent row is slow in postgres
        does postgres create an index for a foreign key by itself
        delete on customers scans the orders table
        which index is missing when a foreign key check takes seconds""",
    ),
    _subject(
        "Signed URLs expire after ten minutes",
        "Downloads from object storage use pre-signed URLs with a lifetime of 600 seconds. Never store one in the "
        "database: store the key and sign at read time.",
        """the download link gives 403 after a while
        how long is a pre-signed url valid here
        can I save the signed URL in the database
        object storage downloads fail for links from yesterday""",
    ),
    _subject(
        "Pin the base image by digest",
        "A tag moves: python:3.11-slim changed its OpenSSL under us. Renovate proposes each new digest.",
        """our image suddenly has another openssl although the Dockerfile is the same
        should the base image be pinned by tag or digest
        who updates the digest of the base image
        python:3.11-slim changed under us""",
    ),
    _subject(
        "Flaky UI tests: wait for the signal, not for time",
        "A sleep hides a race and fails on a busy runner. Wait for the model's signal with qtbot.waitSignal and a "
        "timeout of five seconds.",
        """the ui test is flaky on the busy runner
        replace the sleep in this qtbot test
        how do I wait for a signal in a Qt test
        which timeout do we use for waitSignal""",
    ),
    _subject(
        "Release checklist for the command line tool",
        "Bump the version, write the changelog, tag, wait for the wheels, then announce. Never tag a red pipeline.",
        """what are the steps to release the command line tool
        can I tag the release while the pipeline is red
        what comes first, the changelog or the tag
        release 2.4 of the cli: walk me through the checklist""",
    ),
    _subject(
        "Prompt for release notes",
        "Summarise the merged pull requests by their effect on users, newest first, one line each, no internals.",
        """write the release notes for the merged pull requests
        which prompt do we use to summarise merged pull requests
        release notes should be sorted how
        draft release notes without internals""",
    ),
    _subject(
        "Circuit breaker around the geocoder",
        "The geocoding service stalls for minutes. Open the breaker after five timeouts, fall back to the postcode's "
        "centre, try again after thirty seconds.",
        """the geocoding service stalls, what happens to addresses
        after how many timeouts does the circuit breaker open
        what is the fallback when geocoding is down
        when does the breaker for the geocoder close again""",
    ),
    _subject(
        "Memory grows: unbounded lru_cache on a method",
        "lru_cache on a method keeps every self alive. Use a cache per instance or a bounded cache outside the class.",
        """memory grows slowly in the python worker
        is lru_cache on a method a leak
        objects are never freed because of functools.lru_cache
        diagnose the growing memory of the importer that caches methods""",
    ),
    _subject(
        "gRPC keepalive behind the load balancer",
        "The load balancer drops idle connections after 350 s. Set the keepalive time to 120 s on clients, allow it "
        "on servers, or they answer GOAWAY too_many_pings.",
        """grpc calls fail after the connection was idle
        the server sends GOAWAY too_many_pings
        which keepalive time do grpc clients need behind the load balancer
        idle connections are dropped by the load balancer""",
    ),
    _subject(
        "Migrations run before the new pods",
        "A migration must work with the old code too: add columns first, remove them one release later.",
        """may a migration drop a column in the same release
        in which order do migrations and pods roll out
        old pods crash after the migration removed a column
        we rename a column, how many releases does the migration take""",
    ),
    _subject(
        "Secrets never go into the image",
        "Build arguments stay in the layers: docker history shows them. Mount the token with --secret at build time.",
        """can I pass the npm token as a build argument
        docker history shows our token
        how do I give the docker build a secret
        the image contains a secret in one of its layers""",
    ),
    _subject(
        "Kafka consumer lag after a rebalance",
        "With eager rebalancing every consumer stops. Use the cooperative sticky assignor and static membership.",
        """consumer lag jumps after every kafka rebalance
        what does static membership do for our consumers
        which assignor should the kafka consumers use
        all consumers stop while the group rebalances""",
    ),
    _subject(
        "CSV exports begin with a byte order mark",
        "Excel opens UTF-8 as Latin-1 without it, and breaks Chinese names. The importer strips it again.",
        """excel shows broken chinese names in our csv export
        does the csv export need a byte order mark
        the first column name of the csv has strange bytes
        utf-8 csv opens as latin-1 in excel""",
    ),
    _subject(
        "N+1 queries in the order list",
        "The list loaded each customer by itself: 201 statements. Use selectinload and hold the count in a test.",
        """the order list is slow and issues hundreds of queries
        fix the N+1 problem with the customers of orders
        where do I use selectinload
        how do we test the number of sql statements of a page""",
    ),
    _subject(
        "Rate limit of the public API",
        "Sixty requests a minute for each key, a burst of ten; 429 carries Retry-After in seconds.",
        """what is the rate limit of the public api
        the client gets 429, how long does it wait
        how large a burst does the API allow per key
        does our 429 answer carry Retry-After""",
    ),
    _subject(
        "分布式锁要设置过期时间",
        "持有者崩溃后锁不会释放，用 SET NX PX 并由看门狗续期；释放时用脚本比对令牌，避免误删别人的锁。",
        """分布式锁忘记设置过期时间会怎样？
        持有锁的进程崩溃了怎么办
        看门狗是怎么给锁续期的
        释放锁的时候怎样避免误删别人的锁""",
    ),
    _subject(
        "缓存穿透用布隆过滤器",
        "不存在的键会直达数据库；先查布隆过滤器，再缓存空值，空值的过期时间要短。",
        """怎么防止缓存穿透？
        布隆过滤器适合什么场景
        大量不存在的键打到数据库了
        空值要不要缓存，过期时间设多长""",
    ),
    _subject(
        "灰度发布先切百分之五流量",
        "观察错误率十分钟，再逐步放量；出现告警立刻回滚，回滚不需要审批。",
        """灰度发布一开始切多少流量？
        放量之前错误率要观察多久
        灰度过程中出现告警要不要先审批再回滚
        新版本准备灰度，步骤是什么""",
    ),
    _subject(
        "消息队列消费要幂等",
        "消息至少投递一次，用业务主键去重，重复消费不产生副作用。",
        """消息重复消费怎么保证幂等
        消费者收到两次同样的消息怎么处理
        用什么字段给消息去重
        队列至少投递一次会有什么副作用""",
    ),
    _subject(
        "代码评审清单：并发",
        "检查共享状态、锁的范围、超时与取消，别在持锁时调用外部服务。",
        """评审并发代码要检查哪些点
        持锁的时候能不能调用外部服务
        这段并发代码帮我评审一下，锁的范围合适吗
        并发评审清单里关于超时和取消怎么说""",
    ),
    _subject(
        "数据库连接池耗尽的诊断",
        "看活跃连接与慢查询；常见原因是事务里调用了远程接口，或者连接没有归还。",
        """数据库连接池又耗尽了，怎么诊断？
        活跃连接一直涨，连接没有归还
        事务里调用远程接口有什么问题
        连接池满了先看慢查询还是先扩容""",
    ),
    _subject(
        "日志里不要打印令牌",
        "在日志过滤器中统一脱敏 Authorization 头和密钥，审计日志只保留后四位。",
        """日志里打印了 token 令牌，如何脱敏
        Authorization 头被写进了日志
        审计日志里密钥保留几位
        在哪里统一做日志脱敏""",
    ),
    _subject(
        "前端构建变慢的排查",
        "先看依赖是否重复打包，再用分析插件找最大的模块；图标库要按需引入。",
        """前端构建越来越慢怎么排查
        打包体积里哪个模块最大怎么看
        图标库怎样按需引入
        依赖被重复打包了怎么发现""",
    ),
    _subject(
        "MySQL 深分页用游标",
        "OFFSET 很大时改为按主键续查，避免扫描丢弃的行。",
        """MySQL 分页 OFFSET 太大很慢
        深分页怎么优化
        翻到第一万页查询超时，用游标行不行
        按主键续查和 OFFSET 有什么不同""",
    ),
    _subject(
        "线上 OOM 先留堆转储",
        "重启前执行 jmap，否则现场就没了；容器要挂载卷保存文件，并打开 HeapDumpOnOutOfMemoryError。",
        """线上 OOM 了，重启之前要做什么？
        jmap 堆转储保存到哪里
        容器里内存溢出怎么保留现场
        HeapDumpOnOutOfMemoryError 要不要打开""",
    ),
    _subject(
        "接口超时要逐级递减",
        "网关三秒，服务两秒，数据库一秒；下游的超时必须小于上游，否则重试会堆积。",
        """网关和服务的超时分别设多少
        下游超时比上游长会怎样
        为什么接口重试会堆积
        数据库查询的超时应该配几秒""",
    ),
    _subject(
        "证书到期前三十天告警",
        "证书由定时任务续签；续签后要重载网关，否则仍使用旧证书。",
        """网关证书快到期了有没有告警
        证书续签之后为什么还是旧的
        提前多少天提醒证书过期
        续签证书后要重载什么""",
    ),
    _subject(
        "慢查询先看执行计划",
        "用 EXPLAIN ANALYZE 对比估算行数与实际行数，差十倍以上就更新统计信息。",
        """慢查询应该先看什么
        执行计划里估算行数和实际行数差很多
        什么时候需要更新统计信息
        EXPLAIN ANALYZE 的结果怎么看""",
    ),
    _subject(
        "线程池不要用无界队列",
        "无界队列会把内存撑满；队列长度按峰值的两倍配置，拒绝策略由调用方执行。",
        """线程池的队列长度怎么配
        无界队列把内存撑满了
        线程池满了用哪种拒绝策略
        任务堆积导致内存上涨，是队列的原因吗""",
    ),
    _subject(
        "微服务调用链要传追踪号",
        "网关生成 trace id，放在请求头 X-Trace-Id；异步任务要手动传递，否则链路会断。",
        """调用链在异步任务里断了
        trace id 由谁生成，放在哪个请求头
        X-Trace-Id 怎么传到消息消费者
        链路追踪缺了一段怎么查""",
    ),
    _subject(
        "单元测试不连真实数据库",
        "仓储层用内存实现；只有集成测试启动容器里的数据库，并在每个用例后回滚。",
        """单元测试能不能连真实数据库
        仓储层在测试里怎么替换
        集成测试的数据库用什么启动
        测试用例之间的数据怎么回滚""",
    ),
    _subject(
        "大文件上传走分片",
        "每片五兆，断点续传按分片号；合并后校验 MD5，失败的分片单独重传。",
        """大文件上传失败要从头来吗
        分片大小是多少，断点怎么续传
        合并分片以后校验什么
        上传到一半网络断了怎么续传""",
    ),
    _subject(
        "金额一律用整数分存储",
        "浮点数会丢失精度；金额用整数分，展示时再除以一百，汇率用定点小数。",
        """金额用浮点数存储会怎样
        数据库里的金额是元还是分
        汇率用什么类型保存
        订单总价差了一分钱，是精度问题吗""",
    ),
    _subject(
        "热点键要做本地缓存",
        "单个键每秒十万次会打满一个分片；本地缓存两秒，并给键加随机后缀分散。",
        """缓存有一个热点键打满了分片
        热点键怎么分散
        本地缓存设几秒合适
        某个键每秒十万次访问怎么办""",
    ),
    _subject(
        "回滚数据库迁移的规则",
        "只写向前的迁移；要撤销就再写一个迁移，线上不执行降级脚本。",
        """数据库迁移出错了能执行降级脚本吗
        怎么撤销一个已经上线的迁移
        迁移要不要写向后的版本
        线上回滚迁移的规则是什么""",
    ),
    _subject(
        "跨域请求的预检缓存",
        "浏览器每次都发 OPTIONS；设置 Access-Control-Max-Age 为 600 秒，并在网关统一处理跨域。",
        """每个请求之前都有 OPTIONS 预检
        跨域在哪里统一处理
        Access-Control-Max-Age 设多少
        怎么减少跨域预检的次数""",
    ),
    _subject(
        "定时任务要防止重复执行",
        "多实例部署时用数据库行锁抢占；任务记录开始时间，超过一小时视为失联。",
        """定时任务在两个实例上重复执行了
        多实例部署怎么抢占定时任务
        任务超过多久视为失联
        用行锁防止任务重复执行可以吗""",
    ),
    _subject(
        "搜索结果高亮要转义",
        "先转义 HTML 再加高亮标签，否则用户输入的脚本会被执行。",
        """搜索结果高亮出现了脚本注入
        高亮之前要不要转义 HTML
        用户输入的脚本在结果页被执行了
        高亮标签和转义的先后顺序""",
    ),
    _subject(
        "镜像构建要固定时区",
        "基础镜像默认 UTC，报表任务按上海时区统计；在镜像里设置 TZ=Asia/Shanghai 并安装 tzdata。",
        """容器里的报表时间差八个小时
        镜像里怎么设置时区
        基础镜像默认是什么时区
        为什么要安装 tzdata""",
    ),
    _subject(
        "密码用 bcrypt 存储",
        "成本因子取十二；登录失败五次锁定十五分钟，比较时用恒定时间函数。",
        """密码应该用什么算法存储
        bcrypt 的成本因子取多少
        登录失败几次会锁定
        比较密码哈希要用恒定时间吗""",
    ),
)
