"""Words that every conversation about work is full of.

A search takes them as they are. For injection they are weak evidence, however rare they happen to be in a library: "add
a comment to that function" is about no entry.
"""

from __future__ import annotations

WEAK_SHARE = 0.25
"""What such a word weighs, of what its rarity would give it."""

WEAK = frozenset(
    """
    able add added adding allow allows also always answer answers anyone anything apply ask asked back bad basic
    best better big bit brief briefly bye call called case change changed changing check class code come comment
    common compare complete concise concisely contain contains continue correct could create created creates
    creating current day default define defined delete describe description detail detailed details difference
    different doc docs document documentation done draft easy email empty end error errors evening every exact
    example examples exist exists explain fail failed fails false feature file files fill find fine first fix
    fixed follow following form format full function functions general get gets getting give given go good great
    group handle happen happens hello help here hey hi idea implement implementation important improve include
    including info information input inside instance instead item items job joke keep kind know known large last
    later least length let letter level like likely line lines list little long look looking looks lot made main
    make makes making many mean meaning means method methods mind minute module moment morning move much
    multiple my name named names need needed needs new next nice note nothing now number object objects ok okay
    old one open option options order output own page parameter parameters part pass people place plain plan
    poem point possible problem problems process program project provide purpose put question questions quick
    read reading real really reason related remove rename replace request result results return returned returns
    right row rows run running runs same save say second see seem select send sentence sentences set sets
    setting short shorter shortly show similar simple simpler since single small something sort specific start
    step steps still stop story string strings summarize support sure system take talk tell test tested testing
    tests text thank thanks thing things think three time times title today together tomorrow tool top translate
    true try trying two type types understand update use used useful user uses using usually value values
    variable variables various version wait want wants way ways week well whole word words work working works
    write writes writing wrong year years yes yesterday yet
    今天 明天 昨天 天天 现在 时候 时间 一个 一些 一次 一点 一首 一封 一段 一句 这个 那个 这些 那些 这段 那段
    这句 这样 那样 这里 那里 问题 代码 文件 函数 方法 错误 报错 测试 运行 修改 修复 添加 增加 删除 解释 说明
    看看 试试 好的 继续 谢谢 可以 需要 应该 能够 使用 进行 实现 内容 功能 名字 名称 东西 事情 开始 结束 如果
    因为 所以 但是 或者 然后 已经 没有 不行 不能 不会 不是 不好 就是 还是 还有 比较 推荐 建议 总结 翻译 知道
    觉得 认为 理解 区别 作用 特点 主要 相关 一般 具体 情况 部分 上面 下面 里面 改短 重新 再试 写个 给我 我们
    你们 他们 自己 大家 生成 创建 更新 新的 改成 优化 重构 单元 变量 注释 用法 例子 示例 步骤 过程 原因 意思
    定义 类型 数据 系统 项目 信息 工具 结果 设置 配置 常用 常见 基本 简单 以及 以后 以前 之前 之后 之间 其中
    其他 其它 许多 由于 通过 根据 关于 对于 为了 问问 看下 一起 简短 简洁 详细 回答 句话 用一 话回 要点 列出
    输出 中文 英文 孩子 朋友 老板 邮件 故事 笑话 天气 這個 那個 這些 這樣 這裡 問題 時間 時候 現在 檔案 錯誤
    測試 執行 修復 刪除 解釋 說明 謝謝 應該 實現 內容 名稱 東西 開始 結束 沒有 還是 還有 比較 推薦 建議 總結
    翻譯 覺得 認為 區別 類型 數據 系統 項目 資訊 結果 設定 簡單 以後 之後 之間 許多 透過 根據 關於 對於 為了
    """.split()
)
